// Encodes and decodes on request, for test_tokenizer.py and bench/tokenizer/compare.py, which hold
// the oracle. Arguments: a model directory or a .gguf file. Commands on stdin, a line each, some
// followed by bytes; answers on stdout:
//   encode parse|plain N\n<N bytes>   -> the ids, one line
//   decode keep|skip N\n<N x int32>   -> length\n, then so many bytes
//   stream keep|skip N\n<N x int32>   -> the same through StreamDecoder
//   time REPEATS N\n<N bytes>         -> the median nanoseconds of encoding the bytes
//   describe                          -> "describe", used ids, special ids
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "text/tokenizer.h"

namespace {

using qwick::SpecialText;
using qwick::Tokenizer;

Tokenizer load(const std::string& path) {
  if (path.ends_with(".gguf"))
    return Tokenizer::from_gguf(qwick::GgufFile::open(qwick::MappedFile::open(path)));
  return Tokenizer::from_hf(qwick::FileSet::directory(path));
}

std::string read_bytes(size_t n) {
  std::string bytes(n, '\0');
  std::cin.read(bytes.data(), static_cast<std::streamsize>(n));
  return bytes;
}

std::vector<int32_t> read_ids(size_t n) {
  std::vector<int32_t> ids(n);
  std::cin.read(reinterpret_cast<char*>(ids.data()), static_cast<std::streamsize>(n * sizeof(int32_t)));
  return ids;
}

void print_ids(const std::vector<int32_t>& ids) {
  std::string line;
  for (const int32_t id : ids) line += std::to_string(id) + ' ';
  std::cout << line << '\n' << std::flush;
}

std::string stream(const Tokenizer& tokenizer, const std::vector<int32_t>& ids, bool skip) {
  qwick::StreamDecoder decoder(tokenizer, skip);
  std::string out;
  for (const int32_t id : ids) out += decoder.push(id);
  return out + decoder.flush();
}

int64_t median_ns(const Tokenizer& tokenizer, const std::string& text, size_t repeats) {
  std::vector<int64_t> times;
  for (size_t i = 0; i < std::max<size_t>(repeats, 1); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const std::vector<int32_t> ids = tokenizer.encode(text);
    const auto end = std::chrono::steady_clock::now();
    times.push_back(ids.empty() ? 0
                                : std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

void describe(const Tokenizer& tokenizer) {
  std::vector<int32_t> used;
  std::vector<int32_t> special;
  for (int32_t id = 0; id < tokenizer.vocab_size(); ++id) {
    if (tokenizer.is_used(id)) used.push_back(id);
    if (tokenizer.is_special(id)) special.push_back(id);
  }
  std::cout << tokenizer.describe() << '\n' << std::flush;
  print_ids(used);
  print_ids(special);
}

bool answer(const Tokenizer& tokenizer, const std::string& line) {
  std::istringstream words(line);
  std::string command;
  std::string mode;
  size_t n = 0;
  words >> command;
  if (command == "describe") {
    describe(tokenizer);
    return true;
  }
  words >> mode >> n;
  if (command == "encode") {
    print_ids(tokenizer.encode(read_bytes(n), mode == "plain" ? SpecialText::kPlain : SpecialText::kParse));
  } else if (command == "decode" || command == "stream") {
    const std::vector<int32_t> ids = read_ids(n);
    const bool skip = mode == "skip";
    const std::string text = command == "decode" ? tokenizer.decode(ids, skip) : stream(tokenizer, ids, skip);
    std::cout << text.size() << '\n' << text << std::flush;
  } else if (command == "time") {
    std::cout << median_ns(tokenizer, read_bytes(n), std::stoul(mode)) << '\n' << std::flush;
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: tokenizer_probe MODEL\n");
    return 2;
  }
  try {
    const Tokenizer tokenizer = load(argv[1]);
    for (std::string line; std::getline(std::cin, line);) {
      if (!answer(tokenizer, line)) return 2;
    }
  } catch (const qwick::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return 0;
}
