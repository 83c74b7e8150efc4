// Which texts are names on a hub, and what they mean.
#include "hub/model_names.h"

#include <gtest/gtest.h>

namespace qwick {
namespace {

TEST(ModelNames, AreTakenApart) {
  const auto name = parse_hub_name("Qwen/Qwen3-0.6B-GGUF@refs/pr/1:Qwen3-0.6B-Q8_0.gguf");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->repo, "Qwen/Qwen3-0.6B-GGUF");
  EXPECT_EQ(name->revision, "refs/pr/1");
  EXPECT_EQ(name->file, "Qwen3-0.6B-Q8_0.gguf");
  EXPECT_EQ(name->text(), "Qwen/Qwen3-0.6B-GGUF@refs/pr/1:Qwen3-0.6B-Q8_0.gguf");
  EXPECT_EQ(parse_hub_name("Qwen/Qwen3-0.6B")->revision_or_main(), "main");
}

TEST(ModelNames, EveryShortNameHasAFullOne) {
  for (const ShortName& entry : short_names()) {
    const auto name = parse_hub_name(entry.name);
    ASSERT_TRUE(name) << entry.name;
    EXPECT_EQ(name->text(), entry.full_name);
  }
  EXPECT_EQ(parse_hub_name("QWEN3-0.6B")->repo, "Qwen/Qwen3-0.6B");
}

TEST(ModelNames, WhatIsNone) {
  for (const char* text : {"",
                           "qwen",
                           "/",
                           "a/",
                           "/b",
                           "a/b/c",
                           "../b",
                           "a/..",
                           "./b",
                           "a/b.gguf",
                           "a b/c",
                           "a/b@",
                           "a/b@../x",
                           "a/b@/x",
                           "a/b@x y",
                           "a/b:",
                           "a/b:x",
                           "a/b:/x.gguf",
                           "a/b:../x.gguf",
                           "a--b/c",
                           "-a/b",
                           "a/b.",
                           "a\n/b",
                           "a/b:x\\y.gguf",
                           "a/b:x.gguf:y"}) {
    EXPECT_FALSE(parse_hub_name(text)) << text;
  }
  EXPECT_FALSE(parse_hub_name(std::string(97, 'a') + "/b"));
}

TEST(ModelNames, PathsThatStayWhereTheyAre) {
  for (const char* path : {"a", "a/b.gguf", ".gitattributes", "a/.b", "ä 模型.json", "..."}) {
    EXPECT_TRUE(is_safe_path(path)) << path;
  }
  for (const char* path :
       {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "a/./b", "../a", "a\\b", "a\tb", "a\x7f"}) {
    EXPECT_FALSE(is_safe_path(path)) << path;
  }
  EXPECT_FALSE(is_safe_path(std::string(256, 'a')));
  EXPECT_FALSE(is_safe_path(std::string("a\0b", 3)));
}

}  // namespace
}  // namespace qwick
