#include "cli/options.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/check.h"

namespace qwick::cli {
namespace {

constexpr auto kOptions = std::to_array<OptionSpec>({
    {"MODEL", &Options::model,
     "a Hugging Face directory, a .gguf file, or a name: ORG/NAME[@REVISION][:FILE.gguf] on the hub, or a "
     "short one (qwick list), fetched if it is not there; nothing: the built-in demo"},
    {"NAME", &Options::model, "ORG/NAME[@REVISION][:FILE.gguf] on the hub, or a short name (qwick list)"},
    {"--source", &Options::source,
     "hub to fetch from: hf (or its mirror, HF_ENDPOINT), modelscope; auto: hf, and modelscope where hf "
     "can't "
     "be reached"},
    {"--offline", &Options::offline, "ask no hub: take what is there (as with HF_HUB_OFFLINE=1)"},
    {"--chat-template", &Options::chat_template,
     "instead of the model's own: chatml, qwen3, or a Jinja FILE"},
    {"--dtype", &Options::dtype,
     "weights: q8, q6, q5, q4 (what a file has in fewer bits keeps them); f32: the reference, exact and "
     "slow; auto: q8, or f32 for shapes that the kernels don't have"},
    {"--threads", &Options::threads, "threads that compute; 0: one per core"},
    {"--ctx", &Options::ctx,
     "tokens a conversation may have; 0: the model's own, as far as the cache holds them"},
    {"--kv-cache-mib", &Options::kv_cache_mib,
     "memory for the cache; 0: a quarter of what is free, at most 4096"},
    {"--kv-type", &Options::kv_type,
     "numbers in the cache: q8: 8 bits; k16: keys of 16; auto: q8, k16 where keys have biases (Qwen2)"},
    {"--max-batch", &Options::max_batch, "requests that are worked on at once"},

    {"--packed", &Options::packed,
     "weights in a file that `qwick pack` made of MODEL; default: made once, kept in ~/.cache/qwick/packed"},
    {"-o,--out", &Options::out, "file to write"},

    {"--host", &Options::host, "address to listen on; 0.0.0.0 for all of IPv4, :: for all"},
    {"--port", &Options::port, "port to listen on; 0: any free one"},
    {"--served-model-name", &Options::served_model_names,
     "name that clients may use, repeatable; default: the model's own, Qwen3-0.6B, Qwen-0.6B"},
    {"--api-key", &Options::api_keys, "key that clients must send, repeatable; none: open to all"},
    {"--api-key-file", &Options::api_key_file, "more keys, one a line, # for comments; read again on SIGHUP"},
    {"--cors-origin", &Options::cors_origins,
     "origin whose web pages may call the API, repeatable; *: all; none: no cross-origin headers"},
    {"--max-queue", &Options::max_queue, "requests that may wait; more get status 429"},
    {"--max-body", &Options::max_body, "MiB that a request may have"},
    {"--max-prompt-tokens", &Options::max_prompt_tokens,
     "tokens that a prompt may have; 0: what the context holds"},
    {"--max-connections", &Options::max_connections, "connections at once; more wait to be accepted"},
    {"--request-timeout", &Options::request_timeout,
     "seconds from a request to the end of its answer, which is cut then; 0: no limit"},
    {"--idle-timeout", &Options::idle_timeout, "seconds that a connection may stay open between requests"},
    {"--header-timeout", &Options::header_timeout, "seconds that the header of a request may take to arrive"},
    {"--body-timeout", &Options::body_timeout, "seconds that its body may take"},
    {"--write-timeout", &Options::write_timeout,
     "seconds after which a client that reads nothing is dropped"},
    {"--drain-timeout", &Options::drain_timeout, "seconds that running answers get after SIGTERM"},
    {"--keep-alive", &Options::keep_alive,
     "seconds of silence after which a stream gets a comment, so that nobody on the way gives it up; 0: "
     "never"},
    {"--sampling", &Options::sampling,
     "what holds where a request says nothing, over the model's own: "
     "temperature=0.7,top_p=0.8,top_k=20,min_p=0,"
     "repetition_penalty=1.1"},
    {"--heartbeat", &Options::heartbeat,
     "seconds without work after which a tiny step keeps the model in memory; 0: none"},
    {"--system-prompt-file", &Options::system_prompt_file,
     "system message that most requests begin with: read into the prefix cache at the start"},
    {"--access-log", &Options::access_log, "log a line for each request"},
    {"--log-prompts", &Options::log_prompts, "log what clients send; else nothing of it is ever logged"},

    {"--prompt", &Options::prompt, "text to continue; with --chat the user's message"},
    {"--ids", &Options::ids, "token ids to continue, separated by commas, instead of --prompt"},
    {"--chat", &Options::chat, "put the prompt through the chat template"},
    {"--no-think", &Options::no_think, "with a chat template: answer without thinking first"},
    {"--system", &Options::system, "system message"},
    {"--max-tokens", &Options::max_tokens,
     "tokens to generate at most; 0: 128 for generate, what the context leaves for chat"},
    {"--temperature", &Options::temperature,
     "0: greedy; negative: greedy for generate, the model's own for chat"},
    {"--top-p", &Options::top_p, "keep the most probable tokens that together have this probability; 1: all"},
    {"--top-k", &Options::top_k, "keep this many of the most probable tokens; 0: all"},
    {"--min-p", &Options::min_p, "drop tokens below this share of the best one's probability"},
    {"--repetition-penalty", &Options::repetition_penalty, "above 1: less of what was said before"},
    {"--seed", &Options::seed, "same seed, same answer"},
    {"--ignore-eos", &Options::ignore_eos, "go on past the end of the answer, up to --max-tokens"},

    {"--text", &Options::text, "text to work on"},
    {"--file", &Options::file,
     "file to work on; neither --text nor --file: standard input; pull: the .gguf file to take"},
    {"--no-special", &Options::no_special, "read the spelling of a special token as plain text"},
    {"--decode", &Options::decode, "the other way: ids, in --ids or on standard input, to text"},
    {"--jsonl", &Options::jsonl, "one JSON string a line in, one {\"ids\":[...]} a line out"},
    {"--logprobs", &Options::logprobs, "the log-probability of every token too"},
    {"--against-f32", &Options::against_f32, "compare with the reference in 32-bit floats"},
    {"--json", &Options::json, "print JSON"},

    {"SHAPE", &Options::shape, "qwen3-0.6b or qwen3-1.7b"},
    {"OUT_DIR", &Options::out_dir, "directory to write"},
    {"--tokenizer", &Options::tokenizer, "take the tokenizer files of this directory"},
    {"--layers", &Options::layers, "fewer layers than the shape has; 0: all"},

    {"--rounds", &Options::rounds, "repetitions of each measurement; their median counts"},
    {"--mode", &Options::mode,
     "guide: 你好 twenty times; sweep: workloads by clients at once; ablation: what cache, batches and "
     "streaming bring; all"},
    {"--url", &Options::url, "server to measure, as http://HOST:PORT; none: one of our own, with MODEL"},
    {"--model-name", &Options::model_name, "the name that requests ask for"},
    {"--workloads", &Options::workloads, "tokens of prompts and answers, or chat: conversations of 6 turns"},
    {"--concurrency", &Options::concurrency,
     "clients at once, each with its next request when one is answered"},
    {"--rates", &Options::rates, "requests a second at random times, too"},
    {"--requests", &Options::requests, "requests of each row and round; 0: two for each client, at least 4"},
    {"--dataset", &Options::dataset,
     "conversations to ask instead of --workloads: JSON lines with \"prompt\", \"messages\" or ShareGPT's "
     "\"conversations\""},
    {"--answer-tokens", &Options::answer_tokens, "length of the answers of guide and ablation"},
    {"--slo-first-token", &Options::slo_first_token, "milliseconds to the first token that goodput allows"},
    {"--slo-inter-token", &Options::slo_inter_token, "milliseconds a token that it allows after that"},
    {"--report", &Options::report, "HTML file to write, with charts"},
});

}  // namespace

const OptionSpec& option_spec(std::string_view name) {
  const auto* found =
      std::find_if(kOptions.begin(), kOptions.end(), [&](const auto& spec) { return spec.name == name; });
  QWICK_CHECK(found != kOptions.end());
  return *found;
}

std::string environment_variable(std::string_view flag) {
  std::string name = "QWICK_";
  for (const char c : flag.substr(2)) {
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return name;
}

const std::vector<Command>& commands() {
  static const std::vector<Command> table = {
      {"serve",
       "serve a model through the OpenAI API",
       {"MODEL",
        "--host",
        "--port",
        "--served-model-name",
        "--chat-template",
        "--dtype",
        "--packed",
        "--ctx",
        "--kv-cache-mib",
        "--kv-type",
        "--max-batch",
        "--threads",
        "--api-key",
        "--api-key-file",
        "--cors-origin",
        "--max-queue",
        "--max-body",
        "--max-prompt-tokens",
        "--max-connections",
        "--request-timeout",
        "--idle-timeout",
        "--header-timeout",
        "--body-timeout",
        "--write-timeout",
        "--drain-timeout",
        "--keep-alive",
        "--sampling",
        "--heartbeat",
        "--system-prompt-file",
        "--access-log",
        "--log-prompts",
        "--source",
        "--offline"},
       serve},
      {"chat",
       "talk to a model in the terminal",
       {"MODEL", "--system", "--no-think", "--temperature", "--seed", "--max-tokens", "--chat-template",
        "--dtype", "--packed", "--ctx", "--kv-cache-mib", "--kv-type", "--threads", "--source", "--offline"},
       chat},
      {"generate",
       "continue a prompt",
       {"MODEL",        "--prompt",       "--ids",     "--chat",          "--system", "--no-think",
        "--max-tokens", "--temperature",  "--top-p",   "--top-k",         "--min-p",  "--repetition-penalty",
        "--seed",       "--ignore-eos",   "--json",    "--chat-template", "--dtype",  "--packed",
        "--ctx",        "--kv-cache-mib", "--kv-type", "--threads",       "--source", "--offline"},
       generate},
      {"tokenize",
       "text to token ids, and back",
       {"MODEL", "--text", "--file", "--no-special", "--decode", "--ids", "--jsonl", "--json", "--source",
        "--offline"},
       tokenize},
      {"perplexity",
       "how well a model predicts a text",
       {"MODEL", "--file!", "--logprobs", "--against-f32", "--json", "--dtype", "--packed", "--kv-cache-mib",
        "--kv-type", "--threads", "--source", "--offline"},
       perplexity},
      {"pack",
       "quantise a model into one file, for --packed",
       {"MODEL!", "--dtype", "-o,--out!", "--threads", "--source", "--offline"},
       pack},
      {"pull", "fetch a model from the hub", {"NAME!", "--file", "--source", "--offline"}, pull},
      {"list", "the models that are there, and the short names", {"--json"}, list},
      {"verify", "compare a fetched model with its hashes", {"NAME!"}, verify},
      {"rm", "remove a fetched model and what was packed of it", {"NAME!"}, rm},
      {"inspect",
       "what is in a model file, or what is broken in it",
       {"MODEL", "--json", "--source", "--offline"},
       inspect},
      {"synth",
       "write a model of random weights, for sizing machines and for benchmarks",
       {"SHAPE!", "OUT_DIR!", "--seed", "--tokenizer", "--layers"},
       synth},
      {"bench limits",
       "what this machine can do at most: reading memory, multiplying bytes",
       {"--threads", "--json"},
       bench_limits},
      {"bench engine",
       "the engine's speed with a model, beside the machine's limits",
       {"MODEL", "--dtype", "--packed", "--ctx", "--kv-cache-mib", "--kv-type", "--threads", "--rounds",
        "--json", "--source", "--offline"},
       bench_engine},
      {"bench serve",
       "a server's speed over HTTP: ours with MODEL, or any with the OpenAI API at --url",
       {"MODEL",
        "--mode",
        "--url",
        "--model-name",
        "--api-key",
        "--rounds",
        "--workloads",
        "--concurrency",
        "--rates",
        "--requests",
        "--dataset",
        "--answer-tokens",
        "--slo-first-token",
        "--slo-inter-token",
        "--seed",
        "--json",
        "--report",
        "--dtype",
        "--packed",
        "--ctx",
        "--kv-cache-mib",
        "--kv-type",
        "--max-batch",
        "--threads",
        "--chat-template",
        "--source",
        "--offline"},
       bench_serve},
  };
  return table;
}

}  // namespace qwick::cli
