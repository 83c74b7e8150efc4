// Finding the chat template that a model comes with. Called when a model is loaded.
#pragma once

#include <optional>

#include "base/file.h"
#include "format/gguf.h"
#include "text/chat_template.h"

namespace qwick {

// From chat_template.jinja, or else from tokenizer_config.json, whose chat_template is a string or a list
// of {name, template} with one called "default". The tokens bos and eos are those of
// tokenizer_config.json. Nothing when the model has no template. Throws Error kInvalidFile for a broken
// tokenizer_config.json, kUnsupported for a template that can't be run.
std::optional<ChatTemplate> load_chat_template_hf(const FileSet& files);

// From tokenizer.chat_template, with the tokens of tokenizer.ggml.bos_token_id and eos_token_id.
std::optional<ChatTemplate> load_chat_template_gguf(const GgufFile& file);

}  // namespace qwick
