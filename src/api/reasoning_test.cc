#include "api/reasoning.h"

#include <gtest/gtest.h>

#include "api/text_pieces.h"

namespace qwick::api {
namespace {

AnswerText run(Thinking thinking, const std::vector<std::string>& pieces) {
  ReasoningSplitter splitter(thinking);
  AnswerText all;
  for (const std::string& piece : pieces) all += splitter.push(piece);
  all += splitter.flush();
  return all;
}

struct Case {
  Thinking thinking;
  std::string text;
  std::string reasoning, content;
};

TEST(Reasoning, IsSplitTheSameForEveryWayToCutTheText) {
  const std::vector<Case> cases = {
      {Thinking::kByTag, "<think>\na\n</think>\n\nb", "a", "b"},
      {Thinking::kByTag, "\n <think>a</think>b\n", "a", "b\n"},
      {Thinking::kByTag, "<think>\n\n</think>\n\n", "", ""},
      {Thinking::kByTag, "<think></think>b", "", "b"},
      {Thinking::kByTag, "plain", "", "plain"},
      {Thinking::kByTag, "  plain", "", "  plain"},
      {Thinking::kByTag, " \n", "", " \n"},
      {Thinking::kByTag, "<thin", "", "<thin"},
      {Thinking::kByTag, "<thing>", "", "<thing>"},
      {Thinking::kByTag, "a <think>b</think>", "", "a <think>b</think>"},
      {Thinking::kByTag, "<think>cut in mid", "cut in mid", ""},
      {Thinking::kByTag, "<think>cut </thi", "cut </thi", ""},
      {Thinking::kByTag, "<think>\na\n\nb</think>c", "a\n\nb", "c"},
      {Thinking::kByTag, "<think><<//</think>", "<<//", ""},
      {Thinking::kByTag, "<think>a</think>b</think>", "a", "b</think>"},
      {Thinking::kOpened, "\na\n</think>\n\nb", "a", "b"},
      {Thinking::kOpened, "no end", "no end", ""},
      {Thinking::kOpened, "</think>\nb", "", "b"},
      {Thinking::kOff, "<think>a</think>b", "", "<think>a</think>b"},
      {Thinking::kOff, "\n\nb", "", "\n\nb"},
      {Thinking::kByTag, "", "", ""},
  };
  size_t n_cuts = 0;
  for (const Case& one : cases) {
    for_each_cut(one.text, [&](const std::vector<std::string>& pieces) {
      ++n_cuts;
      const AnswerText all = run(one.thinking, pieces);
      ASSERT_EQ(all.reasoning, one.reasoning) << one.text << " in " << pieces.size() << " pieces";
      ASSERT_EQ(all.content, one.content) << one.text << " in " << pieces.size() << " pieces";
    });
  }
  EXPECT_GT(n_cuts, 200'000U);
}

TEST(Reasoning, HoldsBackOnlyWhatMayBelongToATag) {
  ReasoningSplitter splitter(Thinking::kByTag);
  EXPECT_TRUE(splitter.push("<thi").empty());
  EXPECT_TRUE(splitter.push("nk>\n").empty());
  EXPECT_TRUE(splitter.in_reasoning());
  EXPECT_EQ(splitter.push("one two\n").reasoning, "one two");
  EXPECT_EQ(splitter.push("three <").reasoning, "\nthree ");
  EXPECT_EQ(splitter.push("b>").reasoning, "<b>");
  EXPECT_TRUE(splitter.push("\n</think").empty());
  EXPECT_TRUE(splitter.push(">\n\n").empty());
  EXPECT_FALSE(splitter.in_reasoning());
  EXPECT_EQ(splitter.push("the answer <").content, "the answer <");
  EXPECT_TRUE(splitter.flush().empty());
}

}  // namespace
}  // namespace qwick::api
