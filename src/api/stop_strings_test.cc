#include "api/stop_strings.h"

#include <gtest/gtest.h>

#include "api/text_pieces.h"

namespace qwick::api {
namespace {

struct Result {
  std::string text;
  bool found = false;
  bool operator==(const Result&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Result& result) {
  return out << '"' << result.text << '"' << (result.found ? " found" : "");
}

Result run(const std::vector<std::string>& stops, const std::vector<std::string>& pieces) {
  StopStrings machine(stops);
  Result result;
  for (const std::string& piece : pieces) result.text += machine.push(piece);
  result.found = machine.found();
  result.text += machine.flush();
  return result;
}

struct Case {
  std::vector<std::string> stops;
  std::string text;
  Result expected;
};

TEST(StopStrings, GiveTheSameForEveryWayToCutTheText) {
  const std::vector<Case> cases = {
      {{}, "nothing to stop", {"nothing to stop", false}},
      {{"END"}, "before END after", {"before ", true}},
      {{"END"}, "ENEND", {"EN", true}},
      {{"END"}, "no EN", {"no EN", false}},
      {{"END"}, "ENDEND", {"", true}},
      {{"aab"}, "aaaab!", {"aa", true}},
      {{"abab"}, "abaabab", {"aba", true}},
      {{"abcd", "bc"}, "xabcd", {"xa", true}},  // the one that is complete first
      {{"bc", "abc"}, "xabc", {"x", true}},     // complete together: the longer
      {{"\n\n", "###"}, "a\n#\n##\n\nb", {"a\n#\n##", true}},
      {{"。"}, "你好。再", {"你好", true}},
      {{"你们"}, "你好你", {"你好你", false}},
      {{"x"}, "", {"", false}},
  };
  size_t n_cuts = 0;
  for (const Case& one : cases) {
    for_each_cut(one.text, [&](const std::vector<std::string>& pieces) {
      ++n_cuts;
      ASSERT_EQ(run(one.stops, pieces), one.expected) << one.text << " in " << pieces.size() << " pieces";
    });
  }
  EXPECT_GT(n_cuts, 20'000U);
}

TEST(StopStrings, HoldBackOnlyWhatMayBecomeAStopString) {
  StopStrings machine({"</end>", "STOP"});
  EXPECT_EQ(machine.push("text <"), "text ");
  EXPECT_EQ(machine.push("b> and S"), "<b> and ");
  EXPECT_EQ(machine.push("T"), "");
  EXPECT_EQ(machine.push("UV"), "STUV");
  EXPECT_EQ(machine.push("ST"), "");
  EXPECT_EQ(machine.push("OP and more"), "");
  EXPECT_TRUE(machine.found());
  EXPECT_EQ(machine.push("still more"), "");
  EXPECT_EQ(machine.flush(), "");
}

TEST(StopStrings, TakeTimeInProportionToTheText) {
  std::vector<std::string> stops;
  for (int i = 0; i < 16; ++i) stops.push_back(std::string(1000, 'a') + static_cast<char>('b' + i));
  StopStrings machine(stops);
  std::string shown;
  for (int i = 0; i < 200'000; ++i) shown += machine.push("a");  // seconds, were each push a search
  EXPECT_EQ(shown.size(), 200'000U - 1000);
  EXPECT_EQ(machine.flush().size(), 1000U);
}

}  // namespace
}  // namespace qwick::api
