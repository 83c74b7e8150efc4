// The measurements of `qwick bench serve`, over HTTP, of any server that speaks the OpenAI API. Each gives
// JSON whose figures are {"median", "min", "max"} over the rounds; rounds go through all cases in turn, so
// that a slow minute of the machine touches all of them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "bench/stream_client.h"
#include "bench/workload.h"

namespace qwick {

struct ServeOptions {
  std::string model;  // the name that requests carry
  uint32_t rounds = 3;
  uint64_t seed = 0;            // of prompts and arrival times
  uint32_t answer_tokens = 10;  // of guide and ablation
  // Of the sweep:
  std::vector<std::string> workloads;  // "128/128" (tokens of prompt and answer) or "chat" (6 turns)
  std::vector<Session> file_sessions;  // instead, where there are any
  std::vector<uint32_t> concurrency;
  std::vector<double> rates;  // requests a second, beside the closed loops
  uint32_t requests = 0;      // of each row and round; 0: two for each client, at least 4
  double slo_first_token_ms = 1000;
  double slo_inter_token_ms = 100;
};

class ServeModes {
 public:
  // say: called with a line on each step forward.
  ServeModes(StreamClient& client, ServeOptions options, std::function<void(const std::string&)> say);

  // 20 times 你好, one after another, as it is and each time with another number before it.
  Json guide();
  // Workloads by number of clients, and by rates. Throws Error kInvalidArgument for an unknown workload.
  Json sweep();
  // The guide's steps, from no reuse and answers in one piece on; and what reuse saves a conversation.
  Json ablation();

 private:
  struct Row;
  Json run_sweep_row(const Row& row, uint64_t seed);
  Json run_ablation_step(size_t step, uint64_t seed);
  double conversation_seconds(bool use_cache, uint64_t seed);
  double busy_seconds() const;  // of the server's engine; NaN where it does not say
  std::vector<Session> sessions_of(const std::string& workload, uint32_t n, uint64_t seed) const;

  StreamClient& client_;
  ServeOptions options_;
  std::function<void(const std::string&)> say_;
};

}  // namespace qwick
