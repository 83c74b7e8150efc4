#include "hub/demo_model.h"

// Symbols of demo_files.S.
#define QWICK_DEMO_FILE(symbol) extern "C" const std::byte qwick_demo_##symbol[], qwick_demo_##symbol##_end[];
QWICK_DEMO_FILE(config)
QWICK_DEMO_FILE(generation_config)
QWICK_DEMO_FILE(tokenizer)
QWICK_DEMO_FILE(tokenizer_config)
QWICK_DEMO_FILE(chat_template)
QWICK_DEMO_FILE(weights)
#undef QWICK_DEMO_FILE

namespace qwick {

FileSet demo_model_files() {
  const auto bytes = [](const std::byte* begin, const std::byte* end) {
    return std::span(begin, static_cast<size_t>(end - begin));
  };
  return FileSet::embedded(
      kDemoName,
      {{"config.json", bytes(qwick_demo_config, qwick_demo_config_end)},
       {"generation_config.json", bytes(qwick_demo_generation_config, qwick_demo_generation_config_end)},
       {"tokenizer.json", bytes(qwick_demo_tokenizer, qwick_demo_tokenizer_end)},
       {"tokenizer_config.json", bytes(qwick_demo_tokenizer_config, qwick_demo_tokenizer_config_end)},
       {"chat_template.jinja", bytes(qwick_demo_chat_template, qwick_demo_chat_template_end)},
       {"model.safetensors", bytes(qwick_demo_weights, qwick_demo_weights_end)}});
}

}  // namespace qwick
