// A model's chat template: messages to the prompt text. The template is Jinja, run by text/jinja
// as Hugging Face transformers runs it (trim_blocks, lstrip_blocks, tojson as Python prints it).
// Compiled when the model loads; immutable afterwards and safe to share between threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/json.h"

namespace qwick {

class ChatTemplate {
 public:
  // Throws Error kUnsupported with name, line and construct where the template can't be run.
  static ChatTemplate compile(std::string source, std::string name, std::string bos_token = {},
                              std::string eos_token = {});
  // The built-in ones: "chatml", "qwen3". Throws Error kInvalidArgument naming those there are.
  static ChatTemplate builtin(std::string_view name, std::string bos_token = {}, std::string eos_token = {});

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  struct Input {
    Json messages = Json::array();
    Json tools;  // null or an array
    bool add_generation_prompt = true;
    Json variables = Json::object();  // more variables: enable_thinking and the like
  };
  // Throws Error kInvalidArgument: what the template itself raises (raise_exception), or a run-time
  // error with its line, or a bound on steps, depth or output that was passed.
  std::string render(const Input& input) const;

  const std::string& name() const;
  const std::string& source() const;
  bool mentions(std::string_view variable) const;  // does the template read this variable at all?

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace qwick
