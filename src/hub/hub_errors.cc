#include "hub/hub_errors.h"

#include "base/error.h"

namespace qwick {
namespace {

constexpr int kUnauthorized = 401;
constexpr int kForbidden = 403;
constexpr int kMissing = 404;
constexpr int kTooMany = 429;

[[noreturn]] void fail_transport(const HttpReply& reply, const HubPlace& place) {
  if (reply.transport == Transport::kCertificate) {
    fail(ErrorCode::kIo,
         "{}: its certificate is not trusted ({}); install ca-certificates, or name the certificates of your "
         "network in SSL_CERT_FILE",
         reply.host, reply.message);
  }
  std::string other_way = "--source modelscope, or HF_ENDPOINT=ADDRESS of a mirror";
  if (place.source == HubSource::kModelScope) {
    const bool were_both_tried = place.settings.source == HubSource::kAuto;
    other_way = were_both_tried ? "HF_ENDPOINT=ADDRESS of a mirror" : "--source hf";
  }
  fail(ErrorCode::kIo, "{}: {} ({}); check the network and https_proxy, or take another way: {}", reply.host,
       reply.transport == Transport::kUnreachable ? "can't be reached" : "the connection broke",
       reply.message, other_way);
}

[[noreturn]] void fail_access(const HttpReply& reply, const HubPlace& place, const HubName& name) {
  if (place.source == HubSource::kModelScope && reply.status != kMissing) {
    fail(ErrorCode::kNotFound, "{}: {} gives it to members only (status {}); use --source hf", name.repo,
         place.endpoint(), reply.status);
  }
  if (reply.error_code == "GatedRepo") {
    fail(ErrorCode::kNotFound,
         "{0}: its owner wants terms to be accepted: do so at {1}/{0}, then set HF_TOKEN to a token of yours "
         "({1}/settings/tokens)",
         name.repo, place.endpoint());
  }
  if (reply.error_code.empty() && reply.status == kForbidden) {
    fail(ErrorCode::kNotFound, "{}: {} refuses access (status 403); set HF_TOKEN to a token that may read it",
         name.repo, place.endpoint());
  }
  fail(ErrorCode::kNotFound,
       "{}: no such file or directory here, and no such model at {}; check the spelling, or set HF_TOKEN if "
       "it "
       "is a private one",
       name.repo, place.endpoint());
}

}  // namespace

const std::string& HubPlace::endpoint() const {
  return source == HubSource::kModelScope ? settings.modelscope_endpoint : settings.endpoint;
}

const std::string& HubPlace::token() const {
  static const std::string none;
  return source == HubSource::kModelScope ? none : settings.token;
}

void fail_with_reply(const HttpReply& reply, const HubPlace& place, const HubName& name,
                     const std::string& path) {
  if (reply.transport != Transport::kOk) fail_transport(reply, place);
  const std::string what = path.empty() ? name.repo : name.repo + "/" + path;
  if (reply.status == kUnauthorized || reply.status == kForbidden) fail_access(reply, place, name);
  if (reply.status == kMissing && !path.empty())
    fail(ErrorCode::kNotFound, "{}: {} lists it, but has no such file (status 404)", what, place.endpoint());
  if (reply.status == kMissing && (reply.error_code == "RevisionNotFound" || !name.revision.empty())) {
    fail(ErrorCode::kNotFound, "{}: {} has no revision {} of it; {}/{} shows those that there are", name.repo,
         place.endpoint(), name.revision_or_main(), place.endpoint(), name.repo);
  }
  if (reply.status == kMissing) fail_access(reply, place, name);
  if (reply.status == kTooMany) {
    fail(ErrorCode::kIo, "{}: {} has had too many requests from here (status 429); try again later{}", what,
         place.endpoint(), place.token().empty() ? ", or set HF_TOKEN" : "");
  }
  fail(ErrorCode::kIo, "{}: {} answers with status {}; try again later", what, reply.host, reply.status);
}

}  // namespace qwick
