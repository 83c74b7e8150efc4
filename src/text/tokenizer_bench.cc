// Speed of the tokenizer with the real Qwen3 file (QWICK_TEST_MODELS): prose, code, inputs made to
// hurt (their time per byte must not grow with the size), loading. Against Hugging Face: bench/tokenizer.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "text/tokenizer.h"

namespace qwick {
namespace {

std::filesystem::path model_folder() {
  const char* folder = std::getenv("QWICK_TEST_MODELS");
  const char* home = std::getenv("HOME");
  return (folder != nullptr
              ? std::filesystem::path(folder)
              : std::filesystem::path(home != nullptr ? home : "") / ".cache/qwick/test-models") /
         "qwen3-tokenizer";
}

const Tokenizer& qwen3() {
  static const Tokenizer tokenizer = Tokenizer::from_hf(FileSet::directory(model_folder()));
  return tokenizer;
}

std::string repeat(std::string_view part, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += part;
  return text;
}

void encode(benchmark::State& state, const std::string& text) {
  const Tokenizer& tokenizer = qwen3();
  size_t tokens = 0;
  for (auto _ : state) {
    const std::vector<int32_t> ids = tokenizer.encode(text);
    tokens += ids.size();
    benchmark::DoNotOptimize(ids.data());
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}

void bm_text(benchmark::State& state, const char* name) {
  const auto path = std::filesystem::path(QWICK_SOURCE_DIR) / "tests/differential/texts" / name;
  encode(state, repeat(MappedFile::open(path).text(), 64 << 10));
}
BENCHMARK_CAPTURE(bm_text, english, "english.txt");
BENCHMARK_CAPTURE(bm_text, chinese, "chinese.txt");
BENCHMARK_CAPTURE(bm_text, code, "code.txt");
BENCHMARK_CAPTURE(bm_text, russian, "russian.txt");
BENCHMARK_CAPTURE(bm_text, decomposed, "vietnamese.txt");

void bm_repeated(benchmark::State& state, const char* part) {
  encode(state, repeat(part, static_cast<size_t>(state.range(0))));
}
BENCHMARK_CAPTURE(bm_repeated, letter, "a")->RangeMultiplier(4)->Range(64 << 10, 1 << 20);
BENCHMARK_CAPTURE(bm_repeated, spaces, " ")->RangeMultiplier(4)->Range(64 << 10, 1 << 20);
BENCHMARK_CAPTURE(bm_repeated, marks, "\xCC\x81\xCC\xA3")->RangeMultiplier(4)->Range(64 << 10, 1 << 20);
BENCHMARK_CAPTURE(bm_repeated, brackets, "<")->RangeMultiplier(4)->Range(64 << 10, 1 << 20);

void bm_prompt(benchmark::State& state) {
  encode(state,
         "<|im_start|>user\nWhat does a lighthouse keeper do all day?<|im_end|>\n<|im_start|>assistant\n");
}
BENCHMARK(bm_prompt);

void bm_decode(benchmark::State& state) {
  const auto path = std::filesystem::path(QWICK_SOURCE_DIR) / "tests/differential/texts/english.txt";
  const std::vector<int32_t> ids = qwen3().encode(MappedFile::open(path).text());
  for (auto _ : state) {
    StreamDecoder stream(qwen3());
    for (const int32_t id : ids) benchmark::DoNotOptimize(stream.push(id));
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * ids.size()));
}
BENCHMARK(bm_decode);

void bm_load(benchmark::State& state) {
  const FileSet files = FileSet::directory(model_folder());
  for (auto _ : state) benchmark::DoNotOptimize(Tokenizer::from_hf(files));
}
BENCHMARK(bm_load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace qwick
