#include "bench/workload.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/random.h"

namespace qwick {
namespace {

constexpr uint32_t kAnswerTokens = 64;  // where nothing says how many
constexpr uint32_t kMaxAnswerTokens = 256;
constexpr size_t kMaxSessions = 100'000;

constexpr std::array<std::string_view, 64> kWords{
    "time",  "year",  "people", "way",    "day",    "man",     "thing",   "woman",  "life",   "child",
    "world", "house", "school", "state",  "family", "group",   "country", "hand",   "part",   "place",
    "case",  "week",  "work",   "night",  "point",  "home",    "water",   "room",   "mother", "area",
    "money", "story", "fact",   "month",  "lot",    "right",   "study",   "book",   "eye",    "job",
    "word",  "issue", "side",   "kind",   "head",   "service", "friend",  "father", "power",  "hour",
    "game",  "line",  "end",    "member", "law",    "car",     "city",    "name",   "team",   "minute",
    "idea",  "body",  "back",   "parent"};

uint32_t tokens_of(size_t n_bytes) {
  return std::clamp(static_cast<uint32_t>(std::min<size_t>(n_bytes / 4, kMaxAnswerTokens)), 1U,
                    kMaxAnswerTokens);
}

// Reads one line of a file of sessions.
class LineReader {
 public:
  LineReader(const Json& line, std::string where) : line_(line), where_(std::move(where)) {}

  Session read() const {
    if (!line_.is_object()) bad("is not a JSON object");
    Session session;
    if (line_.contains("conversations")) {
      read_messages(line_["conversations"], "from", "value", "human", session);
    } else if (line_.contains("messages")) {
      read_messages(line_["messages"], "role", "content", "user", session);
    } else if (line_.contains("prompt")) {
      session.is_chat = false;
      session.turns.push_back({text_of(line_, "prompt"), kAnswerTokens});
    } else {
      bad("has neither \"prompt\" nor \"messages\" nor \"conversations\"");
    }
    if (session.turns.empty()) bad("has no message of a user");
    if (const auto found = line_.find("max_tokens"); found != line_.end()) {
      if (!found->is_number_unsigned() || *found == 0 || *found > 1'000'000)
        bad("has a \"max_tokens\" that is no number of tokens");
      for (Turn& turn : session.turns) turn.answer_tokens = found->get<uint32_t>();
    }
    return session;
  }

 private:
  [[noreturn]] void bad(std::string_view what) const { fail(ErrorCode::kInvalidFile, "{} {}", where_, what); }

  std::string text_of(const Json& holder, const char* field) const {
    const auto found = holder.find(field);
    if (found == holder.end() || !found->is_string()) bad(std::string("has no text \"") + field + "\"");
    return found->get<std::string>();
  }

  void read_messages(const Json& messages, const char* role, const char* content, std::string_view user,
                     Session& session) const {
    if (!messages.is_array()) bad("has messages that are no array");
    for (const Json& message : messages) {
      if (!message.is_object()) bad("has a message that is no object");
      const std::string who = text_of(message, role);
      std::string text = text_of(message, content);
      if (who == user) {
        session.turns.push_back({std::move(text), kAnswerTokens});
      } else if (who == "system" && session.turns.empty()) {
        session.system = std::move(text);
      } else if (!session.turns.empty()) {
        session.turns.back().answer_tokens = tokens_of(text.size());
      }
    }
  }

  const Json& line_;
  std::string where_;
};

}  // namespace

std::string random_words(uint32_t n, uint64_t seed) {
  std::string text;
  for (uint32_t i = 0; i < n; ++i) {
    if (i > 0) text += ' ';
    text += kWords[mix_bits(mix_bits(seed) + i * kGoldenGamma) % kWords.size()];
  }
  return text;
}

Session completion_session(uint32_t prompt_tokens, uint32_t answer_tokens, uint64_t seed) {
  return {false, "", {{random_words(prompt_tokens, seed), answer_tokens}}};
}

Session chat_session(uint32_t n_turns, uint64_t seed) {
  Session session{true, random_words(100, seed), {}};
  for (uint32_t i = 0; i < n_turns; ++i)
    session.turns.push_back({random_words(30, mix_bits(seed) + i), kAnswerTokens});
  return session;
}

const std::vector<std::string>& batch_prompts() {
  static const std::vector<std::string> prompts{"讲个笑话", "解释相对论", "写一首五言诗", "推荐一本好书"};
  return prompts;
}

std::vector<Session> read_sessions(const std::string& path) {
  const MappedFile file = MappedFile::open(path);
  std::string_view rest = file.text();
  std::vector<Session> sessions;
  for (size_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view text = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    std::string where = path + ": line " + std::to_string(line);
    const Json json = parse_json(text, where);
    sessions.push_back(LineReader(json, std::move(where)).read());
    if (sessions.size() > kMaxSessions)
      fail(ErrorCode::kInvalidFile, "{}: more than {} lines", path, kMaxSessions);
  }
  if (sessions.empty()) fail(ErrorCode::kInvalidFile, "{}: no line has a conversation", path);
  return sessions;
}

}  // namespace qwick
