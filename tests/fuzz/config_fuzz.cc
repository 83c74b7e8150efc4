// Arbitrary bytes as config.json and as generation_config.json. Anything but success or an Error is
// a bug, and so is a configuration that breaks what model/config.h promises. Run by tests/fuzz/run.sh.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/error.h"
#include "model/config.h"

namespace {

template <typename Read>
void expect_success_or_error(Read read) {
  try {
    read();
  } catch (const qwick::Error& error) {
    QWICK_CHECK(std::string_view(error.what()).find('\n') == std::string_view::npos);
  }
}

void check(const qwick::ModelConfig& config) {
  QWICK_CHECK(config.n_layers > 0 && config.d_model > 0 && config.d_ff > 0 && config.vocab_size > 0);
  QWICK_CHECK(config.n_kv_heads > 0 && config.n_heads % config.n_kv_heads == 0);
  QWICK_CHECK(config.head_dim > 0 && config.head_dim % 2 == 0 && config.rms_norm_eps > 0);
  QWICK_CHECK(std::isfinite(config.rope.theta) && config.rope.theta > 1 && config.rope.factor >= 1);
  QWICK_CHECK(!config.rope.attention_factor || std::isfinite(*config.rope.attention_factor));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto set =
      qwick::FileSet::embedded("set", {{"config.json", bytes}, {"generation_config.json", bytes}});
  expect_success_or_error([&] { check(qwick::read_hf_config(set)); });
  expect_success_or_error([&] {
    for (const int32_t id : qwick::read_hf_generation_defaults(set).eos_ids) QWICK_CHECK(id >= 0);
  });
  return 0;
}
