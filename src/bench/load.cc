#include "bench/load.h"

#include <cmath>
#include <utility>

#include "base/random.h"

namespace qwick {
namespace {

constexpr std::chrono::hours kLongWait{1};

class LoadRun {
 public:
  LoadRun(StreamClient& client, const std::vector<Session>& sessions, const LoadOptions& options)
      : client_(client), sessions_(sessions), options_(options) {}

  LoadResult run() {
    const BenchClock::time_point start = BenchClock::now();
    if (options_.sessions_per_s > 0) {
      arrive(start);
    } else {
      for (uint32_t i = 0; i < options_.n_clients; ++i) begin_next();
    }
    while (client_.n_open() > 0) client_.wait(BenchClock::now() + kLongWait);
    result_.seconds = std::chrono::duration<double>(BenchClock::now() - start).count();
    return std::move(result_);
  }

 private:
  // A session that is being played.
  struct Playing {
    const Session& session;
    size_t turn = 0;
    Json messages = Json::array();
  };

  // The gaps of a Poisson process are exponential.
  void arrive(BenchClock::time_point start) {
    double seconds = 0;
    for (size_t i = 0; i < sessions_.size(); ++i) {
      const auto due =
          start + std::chrono::duration_cast<BenchClock::duration>(std::chrono::duration<double>(seconds));
      while (BenchClock::now() < due) client_.wait(due);
      begin_next();
      const double uniform =
          static_cast<double>(mix_bits(mix_bits(options_.seed) + i * kGoldenGamma) >> 11) * 0x1p-53;
      seconds += -std::log1p(-uniform) / options_.sessions_per_s;
    }
  }

  void begin_next() {
    if (n_begun_ == sessions_.size()) return;
    const Session& session = sessions_[n_begun_++];
    auto playing = std::make_shared<Playing>(Playing{session});
    if (!session.system.empty())
      playing->messages.push_back({{"role", "system"}, {"content", session.system}});
    ask(playing);
  }

  void ask(const std::shared_ptr<Playing>& playing) {
    const Turn& turn = playing->session.turns[playing->turn];
    Json body = {{"model", options_.model},
                 {"max_tokens", turn.answer_tokens},
                 {"temperature", 0},
                 {"ignore_eos", true},
                 {"stream", options_.stream}};
    if (options_.stream) body["stream_options"] = {{"include_usage", true}};
    body.update(options_.extra);
    if (playing->session.is_chat) {
      playing->messages.push_back({{"role", "user"}, {"content", turn.text}});
      body["messages"] = playing->messages;
      body["chat_template_kwargs"] = {{"enable_thinking", false}};
    } else {
      body["prompt"] = turn.text;
    }
    client_.post(playing->session.is_chat ? "/chat/completions" : "/completions", body,
                 [this, playing](StreamReply reply) { take(playing, std::move(reply)); });
  }

  void take(const std::shared_ptr<Playing>& playing, StreamReply reply) {
    const bool goes_on = reply.error.empty() && ++playing->turn < playing->session.turns.size();
    if (goes_on) playing->messages.push_back({{"role", "assistant"}, {"content", reply.text}});
    result_.replies.push_back(std::move(reply));
    if (goes_on) {
      ask(playing);
    } else if (options_.sessions_per_s <= 0) {
      begin_next();
    }
  }

  StreamClient& client_;
  const std::vector<Session>& sessions_;
  const LoadOptions& options_;
  size_t n_begun_ = 0;
  LoadResult result_;
};

}  // namespace

LoadResult run_load(StreamClient& client, const std::vector<Session>& sessions, const LoadOptions& options) {
  return LoadRun(client, sessions, options).run();
}

}  // namespace qwick
