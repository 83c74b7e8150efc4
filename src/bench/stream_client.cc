#include "bench/stream_client.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/error.h"

namespace qwick {
namespace {

constexpr size_t kMaxLine = 16 << 20;  // of an answer: more is no answer
constexpr long kConnectSeconds = 10;
constexpr long kSilentSeconds = 600;  // a server that says nothing for so long is dead

struct EasyDeleter {
  void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

struct HeaderDeleter {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, HeaderDeleter>;

void add(Headers& headers, const std::string& line) {
  curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
  QWICK_CHECK(longer != nullptr);
  static_cast<void>(headers.release());
  headers.reset(longer);
}

template <typename T>
void set(CURL* easy, CURLoption option, T value) {
  QWICK_CHECK(curl_easy_setopt(easy, option, value) == CURLE_OK);
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, 300));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

std::string without_v1(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  if (url.ends_with("/v1")) url.resize(url.size() - 3);
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    fail(ErrorCode::kInvalidArgument,
         "\"{}\" is no address of a server; one looks like http://127.0.0.1:8000", one_line(url));
  }
  return url;
}

}  // namespace

class StreamClient::Impl {
 public:
  Impl(std::string base_url, std::string api_key)
      : url_(without_v1(std::move(base_url))), api_key_(std::move(api_key)), multi_(curl_multi_init()) {
    QWICK_CHECK(multi_ != nullptr);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    for (const auto& [easy, call] : calls_) curl_multi_remove_handle(multi_, easy);
    calls_.clear();
    curl_multi_cleanup(multi_);
  }

  void post(std::string_view path, const Json& body, Done done) {
    auto call = std::make_unique<Call>();
    call->body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    call->is_stream = body.value("stream", false);
    call->done = std::move(done);
    call->easy = idle_.empty() ? Easy(curl_easy_init()) : std::move(idle_.back());
    if (!idle_.empty()) idle_.pop_back();
    CURL* easy = call->easy.get();
    QWICK_CHECK(easy != nullptr);
    curl_easy_reset(easy);
    add(call->headers, "Content-Type: application/json");
    add(call->headers, "Expect:");
    if (!api_key_.empty()) add(call->headers, "Authorization: Bearer " + api_key_);
    set_up(easy, url_ + "/v1" + std::string(path));
    set(easy, CURLOPT_HTTPHEADER, call->headers.get());
    set(easy, CURLOPT_POSTFIELDS, call->body.c_str());
    set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call->body.size()));
    set(easy, CURLOPT_WRITEFUNCTION, &take_bytes);
    set(easy, CURLOPT_WRITEDATA, call.get());
    call->reply.sent = BenchClock::now();
    QWICK_CHECK(curl_multi_add_handle(multi_, easy) == CURLM_OK);
    calls_.emplace(easy, std::move(call));
  }

  void wait(BenchClock::time_point until) {
    while (true) {
      int n_running = 0;
      QWICK_CHECK(curl_multi_perform(multi_, &n_running) == CURLM_OK);
      if (finish_calls()) return;
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - BenchClock::now());
      if (left.count() <= 0) return;
      const int at_most = static_cast<int>(std::min<int64_t>(left.count(), 1000));
      QWICK_CHECK(curl_multi_poll(multi_, nullptr, 0, at_most, nullptr) == CURLM_OK);
    }
  }

  size_t n_open() const { return calls_.size(); }
  const std::string& url() const { return url_; }

  std::string get(std::string_view path) const {
    const Easy easy(curl_easy_init());
    QWICK_CHECK(easy != nullptr);
    std::string body;
    Headers headers;
    if (!api_key_.empty()) add(headers, "Authorization: Bearer " + api_key_);
    set_up(easy.get(), url_ + std::string(path));
    set(easy.get(), CURLOPT_HTTPHEADER, headers.get());
    set(easy.get(), CURLOPT_WRITEFUNCTION, &append_bytes);
    set(easy.get(), CURLOPT_WRITEDATA, &body);
    long status = 0;
    if (curl_easy_perform(easy.get()) != CURLE_OK) return "";
    curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
    return status == 200 ? body : "";
  }

 private:
  struct Call {
    Easy easy;
    Headers headers;
    std::string body;
    bool is_stream = false;
    Done done;
    std::string pending;  // a line of a stream that has not ended, or the answer in one piece
    bool is_done = false;
    StreamReply reply;

    double now() const { return std::chrono::duration<double>(BenchClock::now() - reply.sent).count(); }
  };

  static void set_up(CURL* easy, const std::string& url) {
    set(easy, CURLOPT_URL, url.c_str());
    set(easy, CURLOPT_NOSIGNAL, 1L);
    set(easy, CURLOPT_TCP_NODELAY, 1L);
    set(easy, CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
    set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(easy, CURLOPT_LOW_SPEED_TIME, kSilentSeconds);
  }

  static size_t append_bytes(char* bytes, size_t size, size_t n, void* to) {
    auto& body = *static_cast<std::string*>(to);
    if (body.size() + size * n > kMaxLine) return 0;
    body.append(bytes, size * n);
    return size * n;
  }

  // Called by libcurl with a piece of a body.
  static size_t take_bytes(char* bytes, size_t size, size_t n, void* to) {
    auto& call = *static_cast<Call*>(to);
    if (append_bytes(bytes, size, n, &call.pending) == 0) return 0;
    if (!call.is_stream) return size * n;
    size_t begin = 0;
    for (size_t end = 0; (end = call.pending.find('\n', begin)) != std::string::npos; begin = end + 1)
      take_line(call, std::string_view(call.pending).substr(begin, end - begin));
    call.pending.erase(0, begin);
    return size * n;
  }

  static void take_line(Call& call, std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    constexpr std::string_view kData = "data:";
    if (!line.starts_with(kData)) return;  // empty, or a comment
    line.remove_prefix(kData.size());
    if (line.starts_with(' ')) line.remove_prefix(1);
    if (line == "[DONE]") {
      call.is_done = true;
      return;
    }
    take_answer(call, line);
  }

  // One chunk of a stream, or a whole answer.
  static void take_answer(Call& call, std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
      call.reply.error = fmt::format("not an answer: {}", one_line(text));
      return;
    }
    if (json.contains("error")) call.reply.error = one_line(json["error"].dump());
    if (const auto usage = json.find("usage"); usage != json.end() && usage->is_object()) {
      call.reply.prompt_tokens = usage->value("prompt_tokens", 0U);
      call.reply.answer_tokens = usage->value("completion_tokens", 0U);
    }
    const auto choices = json.find("choices");
    if (choices == json.end() || !choices->is_array() || choices->empty()) return;
    const Json& choice = choices->front();
    const size_t before = call.reply.text.size();
    for (const char* holder : {"delta", "message"}) {
      if (!choice.contains(holder)) continue;
      for (const char* field : {"reasoning_content", "reasoning", "content"})
        append_text(call, choice[holder], field);
    }
    append_text(call, choice, "text");
    if (call.reply.text.size() > before) call.reply.chunk_times.push_back(call.now());
  }

  static void append_text(Call& call, const Json& holder, const char* field) {
    if (const auto found = holder.find(field); found != holder.end() && found->is_string())
      call.reply.text += found->get_ref<const std::string&>();
  }

  bool finish_calls() {
    bool any = false;
    int n_left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi_, &n_left)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* easy = message->easy_handle;
      const CURLcode result = message->data.result;
      const auto found = calls_.find(easy);
      const std::unique_ptr<Call> call = std::move(found->second);
      calls_.erase(found);
      curl_multi_remove_handle(multi_, easy);
      finish(*call, result);
      idle_.push_back(std::move(call->easy));
      call->done(std::move(call->reply));
      any = true;
    }
    return any;
  }

  static void finish(Call& call, CURLcode result) {
    StreamReply& reply = call.reply;
    reply.seconds = call.now();
    long status = 0;
    curl_easy_getinfo(call.easy.get(), CURLINFO_RESPONSE_CODE, &status);
    if (result != CURLE_OK) {
      reply.error = curl_easy_strerror(result);
    } else if (status != 200) {
      reply.error = fmt::format("status {}: {}", status, one_line(call.pending));
    } else if (!call.is_stream) {
      take_answer(call, call.pending);
    } else if (!call.is_done && reply.error.empty()) {
      reply.error = "the stream ended without [DONE]";
    }
    if (reply.answer_tokens == 0) reply.answer_tokens = static_cast<uint32_t>(reply.chunk_times.size());
  }

  std::string url_;
  std::string api_key_;
  CURLM* multi_;
  std::map<CURL*, std::unique_ptr<Call>> calls_;
  std::vector<Easy> idle_;  // handles to use again
};

StreamClient::StreamClient(std::string base_url, std::string api_key)
    : impl_(std::make_unique<Impl>(std::move(base_url), std::move(api_key))) {}
StreamClient::~StreamClient() = default;
void StreamClient::post(std::string_view path, const Json& body, Done done) {
  impl_->post(path, body, std::move(done));
}
void StreamClient::wait(BenchClock::time_point until) {
  impl_->wait(until);
}
size_t StreamClient::n_open() const {
  return impl_->n_open();
}
std::string StreamClient::get(std::string_view path) const {
  return impl_->get(path);
}
const std::string& StreamClient::url() const {
  return impl_->url();
}

}  // namespace qwick
