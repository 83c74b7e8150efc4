#include "api/body.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/errors.h"

namespace qwick::api {
namespace {

[[noreturn]] void refuse(const std::string& reason) {
  throw ApiError(400, "the request body is not valid JSON: " + reason);
}

// Builds the value from the parser's events. Only the last element of a container is ever open, so
// the pointers to open containers stay valid.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  Json take() { return std::move(root_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }  // not in JSON text
  bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
  bool key(string_t& name) override {
    key_ = std::move(name);
    return true;
  }
  bool end_array() override {
    open_.pop_back();
    return true;
  }
  bool end_object() override {
    refuse_duplicates(open_.back()->get_ref<const Json::object_t&>());
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at …: syntax error while …; last read: '…'"
    std::string_view reason = error.what();
    reason = reason.substr(0, reason.find("; last read"));
    if (const auto colon = reason.find(": "); colon != std::string_view::npos)
      reason.remove_prefix(colon + 2);
    if (error.id == kNumberOverflow) reason = "a number is out of range";  // its text is in the message
    refuse(fmt::format("at byte {}: {}", position, reason));
  }

 private:
  static constexpr int kNumberOverflow = 406;

  bool add(Json value) {
    place(std::move(value));
    return true;
  }
  bool open(Json container) {
    if (open_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      refuse(fmt::format("it is nested deeper than {} levels", kMaxJsonDepth));
    }
    open_.push_back(place(std::move(container)));
    return true;
  }
  Json* place(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Json& parent = *open_.back();
    if (parent.is_array()) return &parent.get_ref<Json::array_t&>().emplace_back(std::move(value));
    return &parent.get_ref<Json::object_t&>().emplace_back(std::move(key_), std::move(value)).second;
  }
  static void refuse_duplicates(const Json::object_t& members) {
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const auto& [name, value] : members) names.push_back(name);
    std::sort(names.begin(), names.end());
    if (std::adjacent_find(names.begin(), names.end()) != names.end()) {
      refuse("an object has the same name twice");
    }
  }

  Json root_;
  std::vector<Json*> open_;
  std::string key_;
};

}  // namespace

Json parse_body(std::string_view body) {
  // The parser takes a NUL for the end, whatever follows.
  if (const size_t nul = body.find('\0'); nul != std::string_view::npos)
    refuse(fmt::format("at byte {}: it is a NUL", nul + 1));
  Builder builder;
  Json::sax_parse(body.begin(), body.end(), &builder);
  return builder.take();
}

}  // namespace qwick::api
