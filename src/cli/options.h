// The one table of options: each row gives a flag, the environment variable QWICK_FLAG and the line
// of --help. Commands name the flags that they take.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace qwick::cli {

struct Options {
  std::string model;
  std::string source = "auto";
  bool offline = false;
  std::string chat_template;
  std::string dtype = "auto";
  int32_t threads = 0;
  uint32_t ctx = 0;
  uint32_t kv_cache_mib = 0;
  std::string kv_type = "auto";
  uint32_t max_batch = 16;
  std::string packed;
  std::string out;

  std::string host = "127.0.0.1";
  uint16_t port = 8000;
  std::vector<std::string> served_model_names;
  std::vector<std::string> api_keys;
  std::string api_key_file;
  std::vector<std::string> cors_origins;
  uint32_t max_queue = 256;
  uint32_t max_body = 32;
  uint32_t max_prompt_tokens = 0;
  uint32_t max_connections = 1024;
  uint32_t request_timeout = 0;
  uint32_t idle_timeout = 75;
  uint32_t header_timeout = 10;
  uint32_t body_timeout = 60;
  uint32_t write_timeout = 30;
  uint32_t drain_timeout = 30;
  uint32_t keep_alive = 10;
  std::string sampling;
  uint32_t heartbeat = 0;
  std::string system_prompt_file;
  bool access_log = false;
  bool log_prompts = false;

  std::string prompt;
  std::vector<int32_t> ids;
  bool chat = false;
  bool no_think = false;
  std::string system;
  uint32_t max_tokens = 0;  // 0: the command's default
  double temperature = -1;  // negative: the command's default
  double top_p = 1.0;
  int32_t top_k = 0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  uint64_t seed = 0;
  bool ignore_eos = false;

  std::string text;
  std::string file;
  bool no_special = false;
  bool decode = false;
  bool jsonl = false;
  bool logprobs = false;
  bool against_f32 = false;
  bool json = false;

  std::string shape;
  std::string out_dir;
  std::string tokenizer;
  uint32_t layers = 0;

  uint32_t rounds = 3;
  std::string mode = "guide";
  std::string url;
  std::string model_name = "Qwen-0.6B";
  std::string workloads = "128/128,512/64,2048/128,chat";
  std::vector<int32_t> concurrency{1, 2, 4, 8, 16, 32};
  std::vector<double> rates;
  uint32_t requests = 0;
  std::string dataset;
  uint32_t answer_tokens = 10;
  double slo_first_token = 1000;
  double slo_inter_token = 100;
  std::string report;
};

using Field =
    std::variant<std::string Options::*, std::vector<std::string> Options::*, std::vector<int32_t> Options::*,
                 std::vector<double> Options::*, bool Options::*, double Options::*, int32_t Options::*,
                 uint16_t Options::*, uint32_t Options::*, uint64_t Options::*>;

struct OptionSpec {
  std::string_view name;  // "--host", "-o,--out", or "MODEL" for a positional argument
  Field field;
  std::string_view help;
};

// The row of this name; a bug when there is none.
const OptionSpec& option_spec(std::string_view name);

// "--served-model-name" -> "QWICK_SERVED_MODEL_NAME"
std::string environment_variable(std::string_view flag);

struct Command {
  std::string_view name;
  std::string_view help;
  std::vector<std::string_view> options;  // names of rows; a trailing "!" makes one required
  int (*run)(const Options& options);     // exit status; throws Error
};

const std::vector<Command>& commands();

// One per file of this folder.
int serve(const Options& options);
int chat(const Options& options);
int generate(const Options& options);
int tokenize(const Options& options);
int perplexity(const Options& options);
int pack(const Options& options);
int pull(const Options& options);
int list(const Options& options);
int verify(const Options& options);
int rm(const Options& options);
int inspect(const Options& options);
int synth(const Options& options);
int bench_limits(const Options& options);
int bench_engine(const Options& options);
int bench_serve(const Options& options);

}  // namespace qwick::cli
