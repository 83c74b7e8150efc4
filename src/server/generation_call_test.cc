// A call without a server: what it sends, and when.
#include "server/generation_call.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/json.h"
#include "server/test_exchange.h"

namespace qwick {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

class GenerationCallTest : public testing::Test {
 protected:
  // With an answer for each id.
  GenerationCall call(GenerationCall::Options options, const std::vector<uint64_t>& ids) {
    GenerationCall made(exchange_, api::make_completion_writer(tokenizer_, {"cmpl-1", 1, "m"}, {}), options);
    for (const uint64_t id : ids)
      made.add(id, api::Answer(tokenizer_, api::Thinking::kOff, {}, 3), "", std::nullopt);
    made.start();
    return made;
  }
  TokenEvent token(uint64_t id, const char* text, std::optional<FinishReason> finish = std::nullopt,
                   float logprob = 0) const {
    TokenEvent event{id, tokenizer_.find_token(text), finish, 0};
    event.logprobs = TokenLogprobs{{*event.token, logprob}, {}};
    return event;
  }

  std::shared_ptr<FakeExchange> exchange_ = std::make_shared<FakeExchange>();
  Tokenizer tokenizer_ = Tokenizer::from_hf(FileSet::directory(QWICK_SOURCE_DIR "/models/demo"));
};

TEST_F(GenerationCallTest, CommentsOnASilentStreamAlone) {
  GenerationCall stream = call({.stream = true}, {1});
  const auto later = [] { return steady_clock::now() + seconds(1); };
  stream.keep_alive(steady_clock::now() - seconds(1));
  EXPECT_EQ(exchange_->take(), "");
  stream.keep_alive(later());
  EXPECT_EQ(exchange_->take(), ": keep-alive\n\n");
  stream.on_event(token(1, "a", FinishReason::kLength));
  stream.flush();
  exchange_->take();
  stream.keep_alive(later());
  EXPECT_EQ(exchange_->take(), "");
  GenerationCall whole = call({}, {2});
  whole.keep_alive(later());
  EXPECT_EQ(exchange_->take(), "");
}

TEST_F(GenerationCallTest, SendsNoFasterThanTheClientReads) {
  GenerationCall stream = call({.stream = true}, {1});
  exchange_->unsent = 1 << 20;
  stream.on_event(token(1, "a"));
  stream.on_event(token(1, "b"));
  stream.flush();
  EXPECT_EQ(exchange_->take(), "");
  EXPECT_EQ(stream.held_bytes(), 2U);
  exchange_->unsent = 0;
  stream.flush();
  const std::string sent = exchange_->take();
  EXPECT_EQ(Json::parse(sent.substr(6))["choices"][0]["text"], "ab");
  EXPECT_EQ(stream.held_bytes(), 0U);
}

TEST_F(GenerationCallTest, GivesTheMostLikelyAndCountsAll) {
  GenerationCall best = call({.n = 2, .best_of = 3}, {1, 2, 3});
  best.on_event(token(1, "a", FinishReason::kLength, -2));
  best.on_event(token(2, "b", FinishReason::kLength, -3));
  best.flush();
  EXPECT_EQ(exchange_->take(), "");
  EXPECT_EQ(best.unended(), std::vector<uint64_t>{3});
  best.on_event(token(3, "c", FinishReason::kLength, -1));
  best.flush();
  const Json answer = Json::parse(exchange_->take());
  ASSERT_EQ(answer["choices"].size(), 2U);
  EXPECT_EQ(answer["choices"][0]["text"], "c");
  EXPECT_EQ(answer["choices"][1]["text"], "a");
  EXPECT_EQ(answer["usage"]["completion_tokens"], 3);
  EXPECT_EQ(answer["usage"]["prompt_tokens"], 3);
  EXPECT_EQ(best.take_ended(), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_TRUE(best.take_ended().empty());
}

TEST_F(GenerationCallTest, EndsAStreamThatFails) {
  GenerationCall stream = call({.stream = true}, {1, 2});
  stream.on_event(token(1, "a"));
  stream.fail({504, "too slow"});
  const std::string sent = exchange_->take();
  EXPECT_NE(sent.find("too slow"), std::string::npos);
  EXPECT_TRUE(sent.ends_with("data: [DONE]\n\n"));
  EXPECT_TRUE(exchange_->is_finished);
  stream.on_event(token(2, "b"));
  stream.flush();
  EXPECT_EQ(exchange_->take(), "");
}

}  // namespace
}  // namespace qwick
