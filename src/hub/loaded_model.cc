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

// "Qwen/Qwen3-0.6B": an owner and a name, as on the Hugging Face hub.
bool looks_like_repository(const std::string& name) {
  const size_t slash = name.find('/');
  return slash != std::string::npos && slash > 0 && name.find('/', slash + 1) == std::string::npos &&
         name[0] != '.' && slash + 1 < name.size() && !name.ends_with(".gguf");
}

}  // namespace

ModelFiles open_model_files(const std::string& name) {
  if (name.empty() || name == kDemoName) return demo_model_files();
  std::error_code error;
  if (std::filesystem::is_directory(name, error)) return FileSet::directory(name);
  if (!std::filesystem::exists(name, error)) {
    if (looks_like_repository(name)) {
      fail(ErrorCode::kNotFound,
           "{0}: not on this machine; fetch it with `hf download {0} --local-dir {1}` (pip install "
           "huggingface_hub) "
           "and name that directory",
           name, name.substr(name.find('/') + 1));
    }
    fail(ErrorCode::kNotFound,
         "{}: no such file or directory; MODEL is a Hugging Face directory or a .gguf file", name);
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
