// The merge loops against the definition: repeat the lowest rank, leftmost first.
#include "text/bpe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>

namespace qwick {
namespace {

struct Model {
  std::vector<std::string> tokens;
  std::vector<Bpe::Merge> merges;

  Bpe make(bool ignore_merges = false) const {
    Vocabulary vocabulary;
    for (size_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(vocabulary.add(static_cast<int32_t>(i), tokens[i]), Vocabulary::Added::kOk);
    }
    return Bpe(std::move(vocabulary), merges, ignore_merges);
  }
  void merge(int32_t left, int32_t right) {
    merges.push_back({left, right, static_cast<int32_t>(tokens.size())});
    tokens.push_back(tokens[static_cast<size_t>(left)] + tokens[static_cast<size_t>(right)]);
  }
};

// Random merges over a few letters, in an order that training would not give.
Model random_model(uint32_t seed) {
  std::mt19937 random(seed);
  Model model{{"a", "b", "c", "d"}, {}};
  std::map<std::string, bool> seen;
  while (model.tokens.size() < 120) {
    const auto pick = [&] {
      return static_cast<int32_t>(random() % std::min<size_t>(model.tokens.size(), 30));
    };
    const int32_t left = pick();
    const int32_t right = pick();
    const std::string both =
        model.tokens[static_cast<size_t>(left)] + model.tokens[static_cast<size_t>(right)];
    if (both.size() <= 12 && !std::exchange(seen[both], true)) model.merge(left, right);
  }
  std::shuffle(model.merges.begin(), model.merges.end(), random);
  return model;
}

std::vector<int32_t> by_definition(const Model& model, std::string_view piece) {
  std::vector<int32_t> ids;
  for (const char c : piece) ids.push_back(c - 'a');
  while (true) {
    size_t best_rank = model.merges.size();
    size_t best = 0;
    for (size_t i = 0; i + 1 < ids.size(); ++i) {
      for (size_t rank = 0; rank < best_rank; ++rank) {
        if (model.merges[rank].left == ids[i] && model.merges[rank].right == ids[i + 1]) {
          best_rank = rank;
          best = i;
        }
      }
    }
    if (best_rank == model.merges.size()) return ids;
    ids[best] = model.merges[best_rank].result;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

std::vector<int32_t> encode(const Bpe& bpe, std::string_view piece) {
  std::vector<int32_t> ids;
  bpe.encode_piece(piece, ids);
  return ids;
}

TEST(Bpe, EqualsTheDefinition) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const Model model = random_model(seed);
    const Bpe bpe = model.make();
    std::mt19937 random(seed);
    for (int i = 0; i < 60; ++i) {
      std::string piece(random() % 150 + 1, 'a');  // on both sides of what counts as short
      for (char& c : piece) c = static_cast<char>('a' + random() % 4);
      EXPECT_EQ(encode(bpe, piece), by_definition(model, piece));
    }
    for (const std::string& token : model.tokens) {  // twice: the second time from what was learned
      EXPECT_EQ(encode(bpe, token), by_definition(model, token));
      EXPECT_EQ(encode(bpe, token), by_definition(model, token));
    }
  }
}

TEST(Bpe, IgnoreMergesTakesAWholePieceThatIsAToken) {
  Model model{{"a", "b", "c", "d"}, {}};
  model.tokens.emplace_back("abc");  // no merge leads there
  EXPECT_EQ(encode(model.make(), "abc"), (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(encode(model.make(true), "abc"), (std::vector<int32_t>{4}));
  EXPECT_EQ(encode(model.make(true), "abcd"), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Bpe, BytesWithoutATokenGiveNothing) {
  Model model{{"a", "b"}, {}};
  model.merge(0, 1);
  const Bpe bpe = model.make();
  EXPECT_EQ(encode(bpe, "x"), std::vector<int32_t>{});
  EXPECT_EQ(encode(bpe, "axb"), std::vector<int32_t>{2});
  EXPECT_EQ(encode(bpe, "a" + std::string(100, 'x') + "b"), std::vector<int32_t>{2});
  EXPECT_EQ(encode(bpe, std::string(100, 'x')), std::vector<int32_t>{});
}

TEST(Bpe, OfTwoMergesWithTheSamePartsTheLaterCounts) {
  Model model{{"a", "b", "c"}, {}};
  model.merge(0, 1);                        // ab, rank 0
  model.merge(1, 2);                        // bc, rank 1
  model.merges.push_back(model.merges[0]);  // ab again, rank 2
  EXPECT_EQ(encode(model.make(), "abc"), (std::vector<int32_t>{0, 4}));
}

TEST(Bpe, ThreadsAgree) {
  const Model model = random_model(99);
  const Bpe bpe = model.make();
  std::vector<std::vector<int32_t>> results(4);
  std::vector<std::thread> threads;
  threads.reserve(results.size());
  for (auto& result : results) {
    threads.emplace_back([&] {
      for (const std::string& token : model.tokens) bpe.encode_piece(token, result);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) EXPECT_EQ(result, results[0]);
}

TEST(Vocabulary, FindsWhatWasAdded) {
  Vocabulary vocabulary;
  for (int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(vocabulary.add(i * 3, "token " + std::to_string(i)), Vocabulary::Added::kOk);
  }
  EXPECT_EQ(vocabulary.add(1, "token 7"), Vocabulary::Added::kBytesTaken);
  EXPECT_EQ(vocabulary.add(3, "new"), Vocabulary::Added::kIdTaken);
  EXPECT_EQ(vocabulary.add_unlisted(1, "hidden"), Vocabulary::Added::kOk);
  EXPECT_EQ(vocabulary.find("hidden"), std::nullopt);
  EXPECT_EQ(vocabulary.bytes(1), "hidden");
  for (int32_t i = 0; i < 5000; ++i) {
    ASSERT_EQ(vocabulary.find("token " + std::to_string(i)), i * 3);
    ASSERT_EQ(vocabulary.bytes(i * 3), "token " + std::to_string(i));
  }
  EXPECT_EQ(vocabulary.find("token"), std::nullopt);
  EXPECT_FALSE(vocabulary.contains(2));
  EXPECT_FALSE(vocabulary.contains(-1));
  EXPECT_FALSE(vocabulary.contains(INT32_MAX));
  EXPECT_EQ(vocabulary.size(), 4999 * 3 + 1);
  EXPECT_EQ(vocabulary.count(), 5001u);
}

}  // namespace
}  // namespace qwick
