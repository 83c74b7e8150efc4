#include "hub/download.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/error.h"
#include "hub/backoff.h"
#include "hub/file_lock.h"
#include "hub/http_client.h"
#include "hub/partial_file.h"
#include "hub/progress.h"

namespace qwick {
namespace {

constexpr size_t kConnections = 4;
constexpr uint64_t kLongestRun = 64;  // blocks asked for at once
constexpr int kMaxAttempts = 6;       // that bring nothing
constexpr int kPartialContent = 206;
constexpr std::chrono::milliseconds kTick{200};  // between looks at locks of others, and drawings

class Downloader {
 public:
  Downloader(const std::vector<Download>& downloads, const HubPlace& place, const HubName& name);
  void run();

 private:
  struct File {
    const Download& wanted;
    std::optional<FileLock> lock = std::nullopt;
    std::unique_ptr<PartialFile> part = nullptr;
    std::vector<bool> is_taken = {};  // [blocks] complete, or in a run
    uint64_t n_left = 0;              // blocks that are not complete
    int n_runs = 0;                   // at work on it
    bool has_ranges = true;           // false: the server sends whole files only
    bool is_done = false;
  };
  // Bytes that one connection fetches in order.
  struct Run {
    File* file;
    uint64_t position;
    uint64_t end;
    bool has_ranges;  // false: from the beginning, whenever it is asked for
  };

  void work();
  std::optional<Run> take();
  bool open(File& file);
  std::optional<Run> claim(File& file) const;
  std::optional<Run> claim_whole(File& file) const;

  // True: all of it is there; false: to be taken up again, for the server knows no ranges.
  bool fetch(Run& run, HttpClient& client);
  bool receive(Run& run, std::span<const std::byte> bytes);
  void give_back(const Run& run);
  void finish(const Run& run);
  void check_hash(File& file);
  void pause(std::chrono::milliseconds time, const HttpReply& reply);
  void show(const std::string& activity);

  const HubPlace& place_;
  const HubName& name_;
  Progress progress_;
  std::atomic<bool> stop_{false};

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<File> files_;
  std::string activity_;
  size_t n_workers_ = 0;
  std::exception_ptr error_;  // the first one
};

uint64_t total_bytes(const std::vector<Download>& downloads) {
  uint64_t sum = 0;
  for (const Download& download : downloads) sum += download.file.size;
  return sum;
}

Downloader::Downloader(const std::vector<Download>& downloads, const HubPlace& place, const HubName& name)
    : place_(place), name_(name), progress_(name.repo, total_bytes(downloads)) {
  for (const Download& download : downloads) files_.push_back(File{download});
}

void Downloader::run() {
  std::vector<std::thread> threads;
  threads.reserve(kConnections);
  n_workers_ = kConnections;
  for (size_t i = 0; i < kConnections; ++i) threads.emplace_back([this] { work(); });
  {
    std::unique_lock lock(mutex_);
    while (n_workers_ > 0) {
      changed_.wait_for(lock, kTick);
      progress_.draw(activity_);
    }
  }
  for (std::thread& thread : threads) thread.join();
  if (error_) std::rethrow_exception(error_);
}

void Downloader::work() {
  try {
    HttpClient client(place_.settings.timeout, &stop_);
    while (std::optional<Run> run = take()) {
      if (fetch(*run, client)) {
        finish(*run);
      } else {
        give_back(*run);
      }
    }
  } catch (...) {
    const std::scoped_lock lock(mutex_);
    if (!error_) error_ = std::current_exception();
    stop_ = true;
  }
  const std::scoped_lock lock(mutex_);
  --n_workers_;
  changed_.notify_all();
}

std::optional<Downloader::Run> Downloader::take() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    bool is_all_done = true;
    bool is_waiting = true;
    for (File& file : files_) {
      if (file.is_done) continue;
      if (open(file)) {
        is_waiting = false;
        if (auto run = claim(file)) return run;
      }
      is_all_done = is_all_done && file.is_done;
    }
    if (is_all_done) return std::nullopt;
    if (is_waiting) activity_ = "waiting for another process that fetches it";
    changed_.wait_for(lock, kTick);
  }
  return std::nullopt;
}

// False while another process is at it.
bool Downloader::open(File& file) {
  if (file.part) return true;
  file.lock = FileLock::try_take(file.wanted.lock);
  if (!file.lock) return false;
  if (is_fetched(file.wanted)) {
    file.is_done = true;
    file.lock.reset();
    progress_.skip(file.wanted.file.size);
    return true;
  }
  activity_.clear();
  file.part = std::make_unique<PartialFile>(file.wanted.blob, file.wanted.file.size);
  for (uint64_t block = 0; block < file.part->n_blocks(); ++block) {
    const bool is_complete = file.part->is_complete(block);
    file.is_taken.push_back(is_complete);
    if (is_complete) progress_.skip(file.part->block_bytes(block));
    if (!is_complete) ++file.n_left;
  }
  return true;
}

std::optional<Downloader::Run> Downloader::claim(File& file) const {
  if (file.is_done) return std::nullopt;
  if (file.n_left == 0 || !file.has_ranges) return claim_whole(file);
  const uint64_t n_blocks = file.part->n_blocks();
  const auto n_free = static_cast<uint64_t>(std::count(file.is_taken.begin(), file.is_taken.end(), false));
  const uint64_t most = std::clamp<uint64_t>((n_free + kConnections - 1) / kConnections, 1, kLongestRun);
  uint64_t first = 0;
  while (first < n_blocks && file.is_taken[first]) ++first;
  uint64_t last = first;
  while (last < n_blocks && last < first + most && !file.is_taken[last]) file.is_taken[last++] = true;
  if (first == last) return std::nullopt;
  ++file.n_runs;
  return Run{&file, first * PartialFile::kBlockBytes,
             std::min(last * PartialFile::kBlockBytes, file.part->size()), true};
}

// The whole file for one connection, and no bytes at all when only its hash is left to be checked.
std::optional<Downloader::Run> Downloader::claim_whole(File& file) const {
  if (file.n_runs > 0) return std::nullopt;
  ++file.n_runs;
  return Run{&file, 0, file.n_left == 0 ? 0 : file.part->size(), file.has_ranges};
}

bool Downloader::fetch(Run& run, HttpClient& client) {
  const RemoteFile& wanted = run.file->wanted.file;
  Backoff backoff(kMaxAttempts);
  uint64_t furthest = run.position;
  while (run.position < run.end && !stop_) {
    if (!run.has_ranges) run.position = 0;
    const uint64_t first = run.position;
    const bool is_whole = first == 0 && run.end == wanted.size;
    const HttpRequest request{wanted.url, place_.token(), first, is_whole ? 0 : run.end - first};
    bool has_no_ranges = false;
    HttpReply reply = client.get(request, [&](const HttpReply& head, std::span<const std::byte> bytes) {
      has_no_ranges = !is_whole && head.status != kPartialContent;
      if (has_no_ranges) return false;
      if (!is_whole && (!head.range || head.range->first != first || head.range->total != wanted.size)) {
        fail(ErrorCode::kInvalidFile, "{}: {} sends other bytes than those asked for", wanted.path,
             place_.endpoint());
      }
      return receive(run, bytes);
    });
    if (has_no_ranges) return false;
    if (run.position >= run.end || stop_) break;
    if (run.position > furthest) backoff.reset();
    furthest = std::max(furthest, run.position);
    if (reply.transport == Transport::kOk && reply.status <= kPartialContent) {
      reply.transport = Transport::kBroken;
      reply.message = "it sent too little";
    }
    const auto wait = is_transient(reply) ? backoff.next(reply.retry_after) : std::nullopt;
    if (!wait) fail_with_reply(reply, place_, name_, wanted.path);
    pause(*wait, reply);
  }
  return !stop_;
}

// Bytes at the run's position; a block that they fill is complete.
bool Downloader::receive(Run& run, std::span<const std::byte> bytes) {
  PartialFile& part = *run.file->part;
  bytes = bytes.first(std::min<uint64_t>(bytes.size(), run.end - run.position));
  while (!bytes.empty()) {
    const uint64_t block = run.position / PartialFile::kBlockBytes;
    const uint64_t block_end = block * PartialFile::kBlockBytes + part.block_bytes(block);
    const auto piece = bytes.first(std::min<uint64_t>(bytes.size(), block_end - run.position));
    bytes = bytes.subspan(piece.size());
    const bool is_new = !part.is_complete(block);  // a file without ranges comes with what is there already
    if (is_new) part.write(run.position, piece);
    run.position += piece.size();
    if (!is_new) continue;
    progress_.add(piece.size());
    if (run.position < block_end) continue;
    part.complete(block);
    const std::scoped_lock lock(mutex_);
    --run.file->n_left;
  }
  return run.position < run.end && !stop_;
}

void Downloader::give_back(const Run& run) {
  const std::scoped_lock lock(mutex_);
  File& file = *run.file;
  file.has_ranges = false;
  --file.n_runs;
  changed_.notify_all();
}

void Downloader::finish(const Run& run) {
  File& file = *run.file;
  {
    const std::scoped_lock lock(mutex_);
    if (file.n_left > 0 || file.n_runs > 1) {
      --file.n_runs;
      changed_.notify_all();
      return;
    }
  }
  check_hash(file);  // the last run keeps the others away
  const std::scoped_lock lock(mutex_);
  file.is_done = true;
  file.part.reset();
  file.lock.reset();
  changed_.notify_all();
}

void Downloader::check_hash(File& file) {
  show("checking " + file.wanted.file.path);
  if (!has_hash(file.part->path(), file.wanted.file.hash)) {
    file.part->discard();
    fail(ErrorCode::kInvalidFile,
         "{}/{}: what came does not have the hash that the hub gives ({}); it was thrown away, run again",
         name_.repo, file.wanted.file.path, file.wanted.file.hash.hex);
  }
  file.part->become_blob();
  show("");
}

void Downloader::pause(std::chrono::milliseconds time, const HttpReply& reply) {
  show(fmt::format("trying {} again in {:.0f} s", reply.host, std::chrono::duration<double>(time).count()));
  const auto end = std::chrono::steady_clock::now() + time;
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, end, [&] { return stop_.load() || std::chrono::steady_clock::now() >= end; });
  activity_.clear();
}

void Downloader::show(const std::string& activity) {
  const std::scoped_lock lock(mutex_);
  activity_ = activity;
}

}  // namespace

bool is_fetched(const Download& download) {
  std::error_code error;
  return std::filesystem::file_size(download.blob, error) == download.file.size && !error;
}

void fetch_all(const std::vector<Download>& downloads, const HubPlace& place, const HubName& name) {
  if (!downloads.empty()) Downloader(downloads, place, name).run();
}

}  // namespace qwick
