// The environment as huggingface_hub reads it.
#include "hub/hub_settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"
#include "hub/test_directory.h"

namespace qwick {
namespace {

class HubSettingsTest : public ::testing::Test {
 protected:
  HubSettingsTest() {
    for (const char* name :
         {"HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH", "HF_HUB_CACHE",
          "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
          "HF_HUB_DOWNLOAD_TIMEOUT", "MODELSCOPE_ENDPOINT", "MODELSCOPE_DOMAIN"}) {
      ::unsetenv(name);
    }
    set("HOME", directory_.path().c_str());
  }
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }

  testing::TestDirectory directory_;
};

TEST_F(HubSettingsTest, Defaults) {
  const auto settings = HubSettings::from_environment();
  EXPECT_EQ(settings.endpoint, "https://huggingface.co");
  EXPECT_EQ(settings.modelscope_endpoint, "https://www.modelscope.cn");
  EXPECT_EQ(settings.cache, directory_.path() / ".cache/huggingface/hub");
  EXPECT_EQ(settings.token, "");
  EXPECT_FALSE(settings.is_offline);
}

TEST_F(HubSettingsTest, PlacesAndTheirOrder) {
  set("XDG_CACHE_HOME", "/xdg");
  EXPECT_EQ(HubSettings::from_environment().cache, "/xdg/huggingface/hub");
  set("HF_HOME", "~/hf");
  EXPECT_EQ(HubSettings::from_environment().cache, directory_.path() / "hf/hub");
  set("HF_HUB_CACHE", "/hub");
  EXPECT_EQ(HubSettings::from_environment().cache, "/hub");
  testing::write_file(directory_.path() / "hf/token", " hf_file\n");
  EXPECT_EQ(HubSettings::from_environment().token, "hf_file");
  set("HF_TOKEN", "hf_variable");
  EXPECT_EQ(HubSettings::from_environment().token, "hf_variable");
}

TEST_F(HubSettingsTest, Values) {
  set("HF_ENDPOINT", "http://mirror/");
  set("MODELSCOPE_DOMAIN", "modelscope.example");
  set("HF_HUB_OFFLINE", "yes");
  set("HF_HUB_DOWNLOAD_TIMEOUT", "7");
  const auto settings = HubSettings::from_environment();
  EXPECT_EQ(settings.endpoint, "http://mirror");
  EXPECT_EQ(settings.modelscope_endpoint, "https://modelscope.example");
  EXPECT_TRUE(settings.is_offline);
  EXPECT_EQ(settings.timeout, std::chrono::seconds(7));
  EXPECT_EQ(parse_hub_source("hf"), HubSource::kHuggingFace);
  EXPECT_THROW(parse_hub_source("HF"), Error);
  for (const auto& [name, value] :
       {std::pair("HF_ENDPOINT", "ftp://x"), std::pair("HF_ENDPOINT", "http://a\r\nb"),
        std::pair("HF_TOKEN", "a\nb"), std::pair("HF_HUB_DOWNLOAD_TIMEOUT", "-1")}) {
    set(name, value);
    EXPECT_THROW(HubSettings::from_environment(), Error) << name << "=" << value;
    ::unsetenv(name);
  }
}

}  // namespace
}  // namespace qwick
