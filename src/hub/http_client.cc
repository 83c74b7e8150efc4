#include "hub/http_client.h"

#include <curl/curl.h>
#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <string_view>

#include "base/check.h"
#include "version.h"

namespace qwick {
namespace {

constexpr long kMaxRedirects = 8;
constexpr std::chrono::seconds kLongestConnect{10};

struct CurlLibrary {
  CurlLibrary() { QWICK_CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK); }
  ~CurlLibrary() { curl_global_cleanup(); }
  CurlLibrary(const CurlLibrary&) = delete;
  CurlLibrary& operator=(const CurlLibrary&) = delete;
};

// OpenSSL writes to connections that may be closed, which must not end the process. The signal goes to the
// thread that wrote, so that this thread can swallow it.
class SigpipeBlocked {
 public:
  SigpipeBlocked() {
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
  }
  SigpipeBlocked(const SigpipeBlocked&) = delete;
  SigpipeBlocked& operator=(const SigpipeBlocked&) = delete;
  ~SigpipeBlocked() {
    const timespec now{};
    while (sigtimedwait(&sigpipe_, nullptr, &now) > 0) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t sigpipe_{};
  sigset_t before_{};
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  return text;
}

template <typename T>
std::optional<T> to_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "bytes 0-99/1000"
std::optional<HttpReply::Range> parse_content_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  const size_t dash = text.find('-');
  const size_t slash = text.find('/');
  if (!text.starts_with(kUnit) || dash == std::string_view::npos || slash == std::string_view::npos ||
      dash > slash)
    return std::nullopt;
  const auto first = to_number<uint64_t>(text.substr(kUnit.size(), dash - kUnit.size()));
  const auto total = to_number<uint64_t>(text.substr(slash + 1));
  if (!first || !total) return std::nullopt;
  return HttpReply::Range{*first, *total};
}

// Seconds, or a date.
std::optional<std::chrono::seconds> parse_retry_after(std::string_view text) {
  if (const auto seconds = to_number<uint32_t>(text)) return std::chrono::seconds(*seconds);
  const time_t date = curl_getdate(std::string(text).c_str(), nullptr);
  if (date < 0) return std::nullopt;
  return std::chrono::seconds(std::max<time_t>(0, date - std::time(nullptr)));
}

Transport transport_of(CURLcode code, bool was_connected) {
  switch (code) {
    case CURLE_OK:
      return Transport::kOk;
    case CURLE_WRITE_ERROR:
    case CURLE_ABORTED_BY_CALLBACK:
      return Transport::kStopped;
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_SSL_CONNECT_ERROR:  // what a network that blocks the host looks like
      return Transport::kUnreachable;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return Transport::kCertificate;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_TOO_MANY_REDIRECTS:
      return Transport::kOther;
    case CURLE_OPERATION_TIMEDOUT:
      return was_connected ? Transport::kBroken : Transport::kUnreachable;
    default:
      return Transport::kBroken;
  }
}

std::string host_of(const char* url) {
  std::string_view text = url == nullptr ? "" : url;
  if (const size_t scheme = text.find("://"); scheme != std::string_view::npos)
    text.remove_prefix(scheme + 3);
  return std::string(text.substr(0, text.find('/')));
}

}  // namespace

struct HttpClient::Handle {
  CURL* curl = curl_easy_init();
  char message[CURL_ERROR_SIZE] = "";  // here since libcurl may write to it as long as the handle lives

  Handle() { QWICK_CHECK(curl != nullptr); }
  ~Handle() { curl_easy_cleanup(curl); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  template <typename T>
  void set(CURLoption option, T value) {
    QWICK_CHECK(curl_easy_setopt(curl, option, value) == CURLE_OK);
  }
};

// One get() while it runs; libcurl's callbacks are C and let no exception pass.
struct HttpClient::Transfer {
  CURL* curl;
  const Receiver& receiver;
  HttpReply reply;
  std::exception_ptr thrown;

  static size_t on_header(char* data, size_t /*one*/, size_t n, void* self) {
    static_cast<Transfer*>(self)->take_header({data, n});
    return n;
  }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) reply = {};  // the next reply of a row of redirects
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return;
    std::string name(line.substr(0, colon));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const std::string_view value = trimmed(line.substr(colon + 1));
    if (name == "x-error-code") reply.error_code = value;
    if (name == "retry-after") reply.retry_after = parse_retry_after(value);
    if (name == "content-range") reply.range = parse_content_range(value);
  }

  static size_t on_body(char* data, size_t /*one*/, size_t n, void* self) {
    auto& transfer = *static_cast<Transfer*>(self);
    try {
      return transfer.take_body(std::as_bytes(std::span(data, n))) ? n : 0;
    } catch (...) {
      transfer.thrown = std::current_exception();
      return 0;
    }
  }

  static int on_progress(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
  }

  bool take_body(std::span<const std::byte> bytes) {
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    reply.status = static_cast<int>(status);
    if (status != 200 && status != 206) return false;  // nobody reads the page that comes with an error
    return receiver(reply, bytes);
  }
};

HttpClient::HttpClient(std::chrono::seconds timeout, const std::atomic<bool>* stop)
    : timeout_(timeout), stop_(stop) {
  static const CurlLibrary library;
  handle_ = std::make_shared<Handle>();
}

void HttpClient::set_up(const HttpRequest& request, Transfer& transfer) {
  Handle& handle = *handle_;
  curl_easy_reset(handle.curl);  // keeps the connection
  handle.message[0] = '\0';
  handle.set(CURLOPT_URL, request.url.c_str());
  handle.set(CURLOPT_PROTOCOLS_STR, "http,https");
  handle.set(CURLOPT_REDIR_PROTOCOLS_STR, request.url.starts_with("https:") ? "https" : "http,https");
  handle.set(CURLOPT_FOLLOWLOCATION, 1L);
  handle.set(CURLOPT_MAXREDIRS, kMaxRedirects);
  handle.set(CURLOPT_NOSIGNAL, 1L);
  handle.set(CURLOPT_CONNECTTIMEOUT, static_cast<long>(std::min(timeout_, kLongestConnect).count()));
  handle.set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  handle.set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(timeout_.count()));
  handle.set(CURLOPT_USERAGENT, "qwick/" QWICK_VERSION);
  handle.set(CURLOPT_ERRORBUFFER, static_cast<char*>(handle.message));
  handle.set(CURLOPT_HEADERFUNCTION, &Transfer::on_header);
  handle.set(CURLOPT_HEADERDATA, &transfer);
  handle.set(CURLOPT_WRITEFUNCTION, &Transfer::on_body);
  handle.set(CURLOPT_WRITEDATA, &transfer);
  if (stop_ != nullptr) {
    handle.set(CURLOPT_NOPROGRESS, 0L);
    handle.set(CURLOPT_XFERINFOFUNCTION, &Transfer::on_progress);
    handle.set(CURLOPT_XFERINFODATA, stop_);
  }
  if (request.n_bytes > 0) {
    const std::string range = fmt::format("{}-{}", request.first, request.first + request.n_bytes - 1);
    handle.set(CURLOPT_RANGE, range.c_str());
  }
  for (const char* name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    if (const char* file = std::getenv(name); file != nullptr && *file != '\0')
      handle.set(CURLOPT_CAINFO, file);
  }
}

HttpReply HttpClient::get(const HttpRequest& request, const Receiver& receiver) {
  CURL* const curl = handle_->curl;
  Transfer transfer{curl, receiver, {}, {}};
  set_up(request, transfer);
  // A header that is added like this does not follow a redirect to another host.
  curl_slist* headers = nullptr;
  if (!request.token.empty())
    headers = curl_slist_append(nullptr, ("Authorization: Bearer " + request.token).c_str());
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> owner(headers, curl_slist_free_all);
  handle_->set(CURLOPT_HTTPHEADER, headers);

  CURLcode code = CURLE_OK;
  {
    const SigpipeBlocked blocked;
    code = curl_easy_perform(curl);
  }
  if (transfer.thrown) std::rethrow_exception(transfer.thrown);
  HttpReply& reply = transfer.reply;
  long status = 0;
  curl_off_t connect_us = 0;
  const char* url = nullptr;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &connect_us);
  curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
  reply.status = static_cast<int>(status);
  reply.host = host_of(url);
  reply.transport = transport_of(code, connect_us > 0);
  // An error's page that was refused above is a reply nonetheless.
  if (reply.transport == Transport::kStopped && status >= 400) reply.transport = Transport::kOk;
  reply.message = handle_->message[0] != '\0' ? handle_->message : curl_easy_strerror(code);
  return std::move(reply);
}

std::string HttpClient::escaped(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                          std::string_view("-_.~").find(c) != std::string_view::npos ||
                          (keep_slashes && c == '/');
    out += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

bool is_transient(const HttpReply& reply) {
  constexpr int kTimeout = 408;
  constexpr int kTooMany = 429;
  if (reply.transport == Transport::kUnreachable || reply.transport == Transport::kBroken) return true;
  return reply.transport == Transport::kOk &&
         (reply.status == kTimeout || reply.status == kTooMany || reply.status >= 500);
}

}  // namespace qwick
