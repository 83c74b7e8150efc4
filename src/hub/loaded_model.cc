#include "hub/loaded_model.h"

#include <filesystem>
#include <future>
#include <utility>

#include "base/error.h"
#include "hub/demo_model.h"
#include "text/chat_template_source.h"

namespace qwick {
namespace {

std::optional<ChatTemplate> load_template(const ModelFiles& files, const std::string& wanted) {
  if (wanted == "chatml" || wanted == "qwen3") return ChatTemplate::builtin(wanted);
  if (!wanted.empty()) {
    const MappedFile file = MappedFile::open(wanted);
    return ChatTemplate::compile(std::string(file.text()), wanted);
  }
  if (const auto* gguf = std::get_if<std::shared_ptr<const GgufFile>>(&files))
    return load_chat_template_gguf(**gguf);
  return load_chat_template_hf(std::get<FileSet>(files));
}

}  // namespace

ModelFiles open_model_files(const std::string& name) {
  if (name.empty() || name == kDemoName) return demo_model_files();
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) return FileSet::directory(name);
  if (!std::filesystem::exists(name, error)) {
    fail(ErrorCode::kNotFound,
         "{}: no such file or directory, and no name of a model; MODEL is a Hugging Face directory, a .gguf "
         "file, ORG/NAME on the hub, or a short name (`qwick list` shows them)",
         name);
  }
  return std::make_shared<const GgufFile>(GgufFile::open(MappedFile::open(name)));
}

Tokenizer load_tokenizer(const ModelFiles& files) {
  if (const auto* gguf = std::get_if<std::shared_ptr<const GgufFile>>(&files))
    return Tokenizer::from_gguf(**gguf);
  return Tokenizer::from_hf(std::get<FileSet>(files));
}

LoadedModel load_model(const std::string& name, const std::string& chat_template,
                       const std::function<void(const Model&)>& meanwhile) {
  const ModelFiles files = open_model_files(name);
  // Whatever is thrown below, the future waits for its thread.
  auto text = std::async(std::launch::async, [&] {
    return std::pair(load_tokenizer(files), load_template(files, chat_template));
  });
  Model model = Model::open(files);
  if (meanwhile) meanwhile(model);
  auto [tokenizer, compiled_template] = text.get();
  LoadedModel loaded{std::move(model), std::move(tokenizer), std::move(compiled_template),
                     name.empty() || name == kDemoName};
  const uint32_t n_rows = loaded.model.config().vocab_size;
  if (static_cast<uint32_t>(loaded.tokenizer.vocab_size()) > n_rows) {
    invalid_file("{}: the tokenizer has {} ids, the embedding only {} rows", name,
                 loaded.tokenizer.vocab_size(), n_rows);
  }
  return loaded;
}

}  // namespace qwick
