// Everything that serving needs of a model, opened from a name: the model, its tokenizer, its chat
// template. Called by the commands; hub/pull turns names on a hub into paths before.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "model/model.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace qwick {

struct LoadedModel {
  Model model;
  Tokenizer tokenizer;
  std::optional<ChatTemplate> chat_template;  // nothing: a base model that only completes text
  bool is_demo = false;                       // the one that is built in
};

// `name`: a Hugging Face directory, a .gguf file, or "" or "demo" for the built-in model.
// `chat_template`: "" for the model's own, "chatml", "qwen3", or a file with a Jinja template.
// `meanwhile` is called with the model while the tokenizer is read in a thread of its own.
// Throws Error naming the file and what is wrong with it.
LoadedModel load_model(const std::string& name, const std::string& chat_template = {},
                       const std::function<void(const Model&)>& meanwhile = {});

// The parts, for commands that need no more.
ModelFiles open_model_files(const std::string& name);
Tokenizer load_tokenizer(const ModelFiles& files);

}  // namespace qwick
