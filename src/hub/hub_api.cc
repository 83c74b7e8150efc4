#include "hub/hub_api.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "hub/http_client.h"

namespace qwick {
namespace {

constexpr uint64_t kLargestFile = uint64_t{1} << 50;
constexpr std::string_view kWeights = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr auto kSmallFiles = std::to_array<std::string_view>(
    {"config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json", "vocab.json",
     "merges.txt", "special_tokens_map.json", "added_tokens.json", "chat_template.jinja",
     "chat_template.json", kIndex});

// "model-00001-of-00002.safetensors"
bool is_shard(std::string_view path) {
  return path.starts_with("model-") && path.ends_with(".safetensors") &&
         path.find('/') == std::string_view::npos;
}

const Json& member(const Json& object, const char* key, std::string_view source) {
  if (!object.is_object() || !object.contains(key))
    invalid_file("{}: the hub's answer has no {}", source, key);
  return object[key];
}

std::string text_member(const Json& object, const char* key, std::string_view source) {
  const Json& value = member(object, key, source);
  if (!value.is_string()) invalid_file("{}: the hub's answer: {} is no text", source, key);
  return value.get<std::string>();
}

std::string optional_text(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

uint64_t size_member(const Json& object, const char* key, std::string_view source) {
  const Json& value = member(object, key, source);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > kLargestFile)
    invalid_file("{}: the hub's answer: {} is no size", source, key);
  return value.get<uint64_t>();
}

// A name from the net, fit to be shown.
std::string shown(const std::string& name) {
  return Json(name).dump(-1, ' ', true, Json::error_handler_t::replace);
}

std::string checked_path(std::string path, std::string_view source) {
  if (!is_safe_path(path))
    invalid_file("{}: the hub names a file {}, which is not kept", source, shown(path));
  return path;
}

BlobHash checked_hash(const std::string& hex, const std::string& path, std::string_view source) {
  if (auto hash = parse_blob_hash(hex)) return *std::move(hash);
  invalid_file("{}: the hub gives no hash of {}, without which nothing is kept", source, shown(path));
}

std::string modelscope_revision(const HubName& name) {
  return name.revision.empty() || name.revision == "main" ? "master" : name.revision;
}

// What is neither a part of a model nor a GGUF file need not have a hash; nobody fetches it.
bool is_of_interest(const std::string& path) {
  return is_model_file(path) || path.ends_with(".gguf");
}

RemoteFile hugging_face_file(std::string path, const Json& entry, const std::string& base,
                             std::string_view source) {
  RemoteFile file;
  file.path = std::move(path);
  file.url = base + HttpClient::escaped(file.path, true);
  const auto lfs = entry.find("lfs");
  if (lfs != entry.end() && lfs->is_object()) {
    const std::string sha256 = optional_text(*lfs, "sha256");
    file.hash = checked_hash(sha256.empty() ? optional_text(*lfs, "oid") : sha256, file.path, source);
    file.size = size_member(*lfs, "size", source);
  } else {
    file.hash = checked_hash(optional_text(entry, "blobId"), file.path, source);
    file.size = size_member(entry, "size", source);
  }
  return file;
}

std::vector<RemoteFile> select_gguf(const RemoteModel& model, const HubName& name) {
  std::vector<RemoteFile> found;
  std::string names;
  for (const RemoteFile& file : model.files) {
    if (!file.path.ends_with(".gguf")) continue;
    names += (names.empty() ? "" : ", ") + shown(file.path);
    if (name.file.empty() || file.path == name.file) found.push_back(file);
  }
  if (!name.file.empty() && found.empty()) {
    fail(ErrorCode::kNotFound, "{}: has no file {}; there {}", name.repo, name.file,
         names.empty() ? "is no .gguf file" : "are " + names);
  }
  if (found.size() > 1) {
    fail(ErrorCode::kInvalidArgument, "{0}: choose one of its files, as in {0}:{1}; there are {2}", name.repo,
         found.front().path, names);
  }
  return found;
}

}  // namespace

std::string hugging_face_list_url(const std::string& endpoint, const HubName& name) {
  return fmt::format("{}/api/models/{}/revision/{}?blobs=true", endpoint, name.repo,
                     HttpClient::escaped(name.revision_or_main(), false));
}

RemoteModel parse_hugging_face_list(std::string_view json, const std::string& endpoint, const HubName& name) {
  const Json list = parse_json(json, name.repo);
  RemoteModel model;
  model.commit = text_member(list, "sha", name.repo);
  if (const auto commit = parse_blob_hash(model.commit); !commit || commit->hex.size() != 40)
    invalid_file("{}: the hub's answer: sha is no commit", name.repo);
  const Json& siblings = member(list, "siblings", name.repo);
  if (!siblings.is_array()) invalid_file("{}: the hub's answer: siblings is no list", name.repo);
  const std::string base = fmt::format("{}/{}/resolve/{}/", endpoint, name.repo, model.commit);
  for (const Json& entry : siblings) {
    std::string path = checked_path(text_member(entry, "rfilename", name.repo), name.repo);
    if (is_of_interest(path))
      model.files.push_back(hugging_face_file(std::move(path), entry, base, name.repo));
  }
  return model;
}

std::string modelscope_list_url(const std::string& endpoint, const HubName& name) {
  return fmt::format("{}/api/v1/models/{}/repo/files?Revision={}&Recursive=true", endpoint, name.repo,
                     HttpClient::escaped(modelscope_revision(name), false));
}

RemoteModel parse_modelscope_list(std::string_view json, const std::string& endpoint, const HubName& name) {
  const Json list = parse_json(json, name.repo);
  const Json& files = member(member(list, "Data", name.repo), "Files", name.repo);
  if (!files.is_array()) invalid_file("{}: the hub's answer: Files is no list", name.repo);
  RemoteModel model;
  std::vector<std::string> lines;
  for (const Json& entry : files) {
    if (optional_text(entry, "Type") == "tree") continue;
    RemoteFile file;
    file.path = checked_path(text_member(entry, "Path", name.repo), name.repo);
    if (!is_of_interest(file.path)) continue;
    file.size = size_member(entry, "Size", name.repo);
    file.hash = checked_hash(optional_text(entry, "Sha256"), file.path, name.repo);
    file.url = fmt::format("{}/api/v1/models/{}/repo?Revision={}&FilePath={}", endpoint, name.repo,
                           HttpClient::escaped(modelscope_revision(name), false),
                           HttpClient::escaped(file.path, false));
    lines.push_back(fmt::format("{} {} {}\n", file.hash.hex, file.size, file.path));
    model.files.push_back(std::move(file));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += line;
  model.commit = sha1_hex(text);
  return model;
}

bool is_model_file(std::string_view path) {
  return std::find(kSmallFiles.begin(), kSmallFiles.end(), path) != kSmallFiles.end() || path == kWeights ||
         is_shard(path);
}

std::vector<RemoteFile> select_files(const RemoteModel& model, const HubName& name) {
  const auto has = [&](std::string_view path) {
    return std::any_of(model.files.begin(), model.files.end(),
                       [&](const auto& file) { return file.path == path; });
  };
  const bool has_one_file = has(kWeights);
  if (!name.file.empty() || !has("config.json") || (!has_one_file && !has(kIndex))) {
    std::vector<RemoteFile> gguf = select_gguf(model, name);
    if (gguf.empty()) {
      fail(ErrorCode::kUnsupported, "{}: holds neither {} with a config.json nor a .gguf file", name.repo,
           kWeights);
    }
    return gguf;
  }
  if (!has("tokenizer.json")) {
    fail(ErrorCode::kUnsupported, "{}: has no tokenizer.json, without which nothing can be read", name.repo);
  }
  std::vector<RemoteFile> selected;
  for (const RemoteFile& file : model.files) {
    const bool is_of_shards = is_shard(file.path) || file.path == kIndex;
    if (is_model_file(file.path) && !(has_one_file && is_of_shards)) selected.push_back(file);
  }
  return selected;
}

}  // namespace qwick
