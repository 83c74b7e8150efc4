#include "hub/pull.h"

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "hub/backoff.h"
#include "hub/demo_model.h"
#include "hub/download.h"
#include "hub/http_client.h"
#include "hub/hub_api.h"
#include "hub/hub_cache.h"
#include "hub/hub_errors.h"
#include "hub/partial_file.h"
#include "hub/progress.h"

namespace fs = std::filesystem;

namespace qwick {
namespace {

constexpr size_t kLargestList = 64 << 20;  // bytes
constexpr int kListAttempts = 4;
constexpr int kOk = 200;

// The text of a list, or the reply that came instead.
HttpReply get_list(const std::string& url, const HubPlace& place, bool is_last_resort, std::string& text) {
  HttpClient client(place.settings.timeout);
  Backoff backoff(kListAttempts);
  while (true) {
    text.clear();
    HttpReply reply =
        client.get({url, place.token()}, [&](const HttpReply&, std::span<const std::byte> bytes) {
          if (text.size() + bytes.size() > kLargestList)
            fail(ErrorCode::kInvalidFile, "{}: answers without an end", place.endpoint());
          text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
          return true;
        });
    // Where there is another hub to ask, a host that can't be reached is not waited for.
    const bool is_worth_it = is_last_resort || reply.transport == Transport::kOk;
    const auto wait = is_worth_it && is_transient(reply) ? backoff.next(reply.retry_after) : std::nullopt;
    if (!wait) return reply;
    std::this_thread::sleep_for(*wait);
  }
}

// False when the host can't be reached and this is not the last resort.
bool ask(const HubPlace& place, const HubName& name, bool is_last_resort, RemoteModel& model) {
  const bool is_modelscope = place.source == HubSource::kModelScope;
  const std::string& endpoint = place.endpoint();
  std::string text;
  const HttpReply reply =
      get_list(is_modelscope ? modelscope_list_url(endpoint, name) : hugging_face_list_url(endpoint, name),
               place, is_last_resort, text);
  if (reply.transport != Transport::kOk && is_transient(reply) && !is_last_resort) {
    log::info("{} can't be reached ({}); asking ModelScope", reply.host, reply.message);
    return false;
  }
  if (reply.transport != Transport::kOk || reply.status != kOk) fail_with_reply(reply, place, name, "");
  model = is_modelscope ? parse_modelscope_list(text, endpoint, name)
                        : parse_hugging_face_list(text, endpoint, name);
  return true;
}

// Which hub has the model.
HubSource ask_hubs(const HubName& name, const HubSettings& settings, RemoteModel& model) {
  if (settings.source != HubSource::kModelScope) {
    const bool is_last_resort = settings.source == HubSource::kHuggingFace;
    if (ask({HubSource::kHuggingFace, settings}, name, is_last_resort, model)) return HubSource::kHuggingFace;
  }
  ask({HubSource::kModelScope, settings}, name, true, model);
  return HubSource::kModelScope;
}

void check_disk_space(const std::vector<Download>& missing, const fs::path& cache) {
  uint64_t n_needed = 0;
  for (const Download& download : missing)
    n_needed += PartialFile::missing_bytes(download.blob, download.file.size);
  std::error_code error;
  fs::create_directories(cache, error);
  if (error) fail(ErrorCode::kIo, "{}: can't make it: {}", cache.string(), error.message());
  const fs::space_info space = fs::space(cache, error);
  if (!error && space.available < n_needed) {
    fail(ErrorCode::kIo, "{}: {} are needed, {} are free; make room, or set HF_HUB_CACHE to another place",
         cache.string(), byte_text(n_needed), byte_text(space.available));
  }
}

// The weights' links last: a snapshot that has them has the rest.
void link_snapshot(const HubCache& cache, const std::string& repo, const std::string& commit,
                   const std::vector<RemoteFile>& files) {
  for (const bool is_weights : {false, true}) {
    for (const RemoteFile& file : files) {
      if (file.path.starts_with("model") == is_weights) cache.link(repo, commit, file.path, file.hash);
    }
  }
}

[[noreturn]] void fail_offline(const HubName& name, const fs::path& cache) {
  fail(ErrorCode::kNotFound,
       "{}: is not in {} as a whole, and this is to work offline (--offline, HF_HUB_OFFLINE)", name.text(),
       cache.string());
}

}  // namespace

Pulled pull_model(const HubName& name, const HubSettings& settings) {
  const HubCache cache(settings.cache);
  if (settings.is_offline) {
    const auto there = cache.find(name);
    if (!there) fail_offline(name, settings.cache);
    return {*there, {}, 0, 0};
  }
  RemoteModel remote;
  const HubPlace place{ask_hubs(name, settings, remote), settings};
  const std::vector<RemoteFile> files = select_files(remote, name);
  Pulled pulled;
  pulled.commit = remote.commit;
  std::vector<Download> missing;
  for (const RemoteFile& file : files) {
    const Download download{file, cache.blob(name.repo, file.hash), cache.lock(name.repo, file.hash)};
    pulled.n_bytes += file.size;
    if (is_fetched(download)) {
      PartialFile::remove_leftovers(download.blob);
      continue;
    }
    pulled.n_fetched += file.size;
    missing.push_back(download);
  }
  if (!missing.empty()) {
    check_disk_space(missing, settings.cache);
    log::info("fetching {} from {}: {} of {} ({} files)", name.text(), place.endpoint(),
              byte_text(pulled.n_fetched), byte_text(pulled.n_bytes), files.size());
    fetch_all(missing, place, name);
  }
  link_snapshot(cache, name.repo, pulled.commit, files);
  cache.set_revision(name.repo, name.revision_or_main(), pulled.commit);
  HubName exact = name;
  exact.revision = pulled.commit;
  const auto model = cache.find(exact);
  if (!model) fail(ErrorCode::kUnsupported, "{}: lacks parts of its weights", name.text());
  pulled.model = *model;
  return pulled;
}

std::optional<HubName> hub_name_of(const std::string& model) {
  std::error_code error;
  if (model.empty() || model == kDemoName || fs::exists(model, error)) return std::nullopt;
  return parse_hub_name(model);
}

fs::path find_or_pull(const HubName& name, const HubSettings& settings) {
  if (auto there = HubCache(settings.cache).find(name)) return *std::move(there);
  return pull_model(name, settings).model;
}

}  // namespace qwick
