// What is asked of a server while it is measured: sessions of one or more turns, made from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace qwick {

struct Turn {
  std::string text;  // the user's message, or the prompt of a completion
  uint32_t answer_tokens = 0;
};

// The turns of one client, one after another; each sees those before it and their answers.
struct Session {
  bool is_chat = true;  // /v1/chat/completions; else one turn for /v1/completions
  std::string system;   // of a chat; "": none
  std::vector<Turn> turns;
};

// Text of n common English words, each of which is one token to the usual vocabularies, with the space
// before it. Another seed gives another text from the first word on.
std::string random_words(uint32_t n, uint64_t seed);

// A prompt of about n tokens that no server has seen before.
Session completion_session(uint32_t prompt_tokens, uint32_t answer_tokens, uint64_t seed);

// A conversation: a system message of about 100 tokens, messages of about 30, answers of 64.
Session chat_session(uint32_t n_turns, uint64_t seed);

// The prompts that the guide batches.
const std::vector<std::string>& batch_prompts();

// Sessions from a file of JSON lines, each one of
//   {"prompt": "...", "max_tokens": 64}
//   {"messages": [{"role": "user", "content": "..."}, ...], "max_tokens": 64}
//   {"conversations": [{"from": "human", "value": "..."}, {"from": "gpt", "value": "..."}, ...]}   (ShareGPT)
// The user's messages are asked in turn; what the file has as answers only gives their length, at four
// bytes a token and at most 256. Throws Error kInvalidFile, naming the line, or kIo.
std::vector<Session> read_sessions(const std::string& path);

}  // namespace qwick
