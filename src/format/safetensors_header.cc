#include "format/safetensors_header.h"

#include <set>

#include "base/error.h"
#include "base/json.h"
#include "format/message.h"

namespace qwick {
namespace {

constexpr size_t kMaxRank = 8;
constexpr size_t kMaxTensors = 1 << 17;

// The events of nlohmann's parser. A reader overrides what it expects; everything else is an error
// at that place. Errors are thrown, so that every event returns true.
class JsonEvents {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  explicit JsonEvents(std::string_view file) : file_(file) {}
  JsonEvents(const JsonEvents&) = delete;
  JsonEvents& operator=(const JsonEvents&) = delete;
  virtual ~JsonEvents() = default;

  virtual bool null() { unexpected("null"); }
  virtual bool boolean(bool /*value*/) { unexpected("a boolean"); }
  virtual bool number_integer(number_integer_t /*value*/) { unexpected("a negative number"); }
  virtual bool number_unsigned(number_unsigned_t /*value*/) { unexpected("a number"); }
  virtual bool number_float(number_float_t /*value*/, const string_t& /*text*/) { unexpected("a fraction"); }
  virtual bool string(string_t& /*value*/) { unexpected("a string"); }
  virtual bool binary(binary_t& /*value*/) { unexpected("binary data"); }
  virtual bool start_object(size_t /*n*/) { unexpected("an object"); }
  virtual bool key(string_t& key) = 0;
  virtual bool end_object() = 0;
  virtual bool start_array(size_t /*n*/) { unexpected("an array"); }
  virtual bool end_array() { return true; }

  bool parse_error(size_t position, const std::string& /*token*/, const Json::exception& /*error*/) {
    invalid_file("{}: the JSON text is broken at its byte {}", file_, position);
  }

 protected:
  std::string_view file() const { return file_; }
  virtual std::string place() const = 0;  // where in the text, for messages
  [[noreturn]] void unexpected(std::string_view what) const {
    invalid_file("{}: {}: unexpected {}", file_, place(), what);
  }

 private:
  std::string_view file_;
};

class HeaderEvents final : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;

  std::vector<SafetensorsEntry> entries;

  bool start_object(size_t /*n*/) override {
    switch (state_) {
      case State::kStart:
        state_ = State::kTop;
        return true;
      case State::kName:
        state_ = State::kTensor;
        fields_ = 0;
        return true;
      case State::kMetadataName:
        state_ = State::kMetadata;
        return true;
      default:
        unexpected("an object");
    }
  }

  bool key(string_t& key) override {
    if (state_ == State::kTop) return name(key);
    if (state_ == State::kMetadata) return true;
    const Field field = key == "dtype"          ? kDType
                        : key == "shape"        ? kShape
                        : key == "data_offsets" ? kOffsets
                                                : kNone;
    if (field == kNone) unexpected("field " + in_quotes(key));
    if (fields_ & field) unexpected("second " + key);
    fields_ |= field;
    state_ = field == kDType ? State::kDType : field == kShape ? State::kShapeStart : State::kOffsetsStart;
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) return true;
    if (state_ != State::kDType) unexpected("a string");
    entries.back().dtype = std::move(value);
    state_ = State::kTensor;
    return true;
  }

  bool start_array(size_t /*n*/) override {
    if (state_ == State::kShapeStart) {
      state_ = State::kShape;
    } else if (state_ == State::kOffsetsStart) {
      state_ = State::kOffsets;
    } else {
      unexpected("an array");
    }
    return true;
  }

  bool number_unsigned(number_unsigned_t value) override {
    SafetensorsEntry* entry = entries.empty() ? nullptr : &entries.back();
    if (state_ == State::kShape && entry->shape.size() < kMaxRank) {
      entry->shape.push_back(value);
    } else if (state_ == State::kOffsets && entry->data_offsets.size() < 2) {
      entry->data_offsets.push_back(value);
    } else {
      unexpected("a number");
    }
    return true;
  }

  bool end_array() override {
    state_ = State::kTensor;
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor) {
      if (fields_ != (kDType | kShape | kOffsets) || entries.back().data_offsets.size() != 2) {
        unexpected("end: dtype, shape and data_offsets of two numbers are needed");
      }
      state_ = State::kTop;
    } else {
      state_ = state_ == State::kMetadata ? State::kTop : State::kEnd;
    }
    return true;
  }

 private:
  // What the next event may be: the value of the last key, or a key, or the end of an object.
  enum class State {
    kStart,
    kTop,
    kMetadataName,
    kMetadata,
    kName,
    kTensor,
    kDType,
    kShapeStart,
    kShape,
    kOffsetsStart,
    kOffsets,
    kEnd,
  };
  enum Field : unsigned { kNone = 0, kDType = 1, kShape = 2, kOffsets = 4 };

  bool name(string_t& key) {
    if (!names_.insert(key).second)
      invalid_file("{}: {} appears twice in the header", file(), in_quotes(key));
    if (key == "__metadata__") {
      state_ = State::kMetadataName;
      return true;
    }
    if (entries.size() == kMaxTensors) invalid_file("{}: more than {} tensors", file(), kMaxTensors);
    entries.push_back({std::move(key), {}, {}, {}});
    state_ = State::kName;
    return true;
  }

  std::string place() const override {
    if (state_ == State::kMetadata || state_ == State::kMetadataName) return "__metadata__";
    return state_ == State::kStart || entries.empty() ? "header" : "tensor " + in_quotes(entries.back().name);
  }

  State state_ = State::kStart;
  unsigned fields_ = 0;  // of the current tensor, seen so far
  std::set<std::string> names_;
};

// Only weight_map, at the top, matters; other members are passed over whatever they hold.
class IndexEvents final : public JsonEvents {
 public:
  using JsonEvents::JsonEvents;

  std::map<std::string, std::string> weight_map;
  bool found = false;

  bool null() override { return skip("null"); }
  bool boolean(bool /*value*/) override { return skip("a boolean"); }
  bool number_integer(number_integer_t /*value*/) override { return skip("a number"); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return skip("a number"); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return skip("a number"); }

  bool string(string_t& value) override {
    if (!in_map_) return skip("a string");
    if (depth_ != 2) unexpected("a string");
    current_->second = std::move(value);
    return true;
  }

  bool start_object(size_t /*n*/) override {
    if (in_map_ && (depth_ != 1)) unexpected("an object");
    ++depth_;
    return true;
  }

  bool key(string_t& key) override {
    if (depth_ == 1) {
      in_map_ = key == "weight_map";
      if (in_map_ && found) unexpected("second weight_map");
      found = found || in_map_;
    } else if (in_map_) {
      if (weight_map.size() == kMaxTensors) invalid_file("{}: more than {} tensors", file(), kMaxTensors);
      bool inserted = false;
      std::tie(current_, inserted) = weight_map.emplace(std::move(key), std::string());
      if (!inserted) invalid_file("{}: weight_map names {} twice", file(), in_quotes(current_->first));
    }
    return true;
  }

  bool end_object() override {
    --depth_;
    if (depth_ == 1) in_map_ = false;
    return true;
  }

  bool start_array(size_t /*n*/) override {
    if (in_map_ || depth_ == 0) unexpected("an array");
    ++depth_;
    return true;
  }

  bool end_array() override {
    --depth_;
    return true;
  }

 private:
  bool skip(std::string_view what) const {
    if (in_map_ || depth_ == 0) unexpected(what);
    return true;
  }

  std::string place() const override { return in_map_ ? "weight_map" : "index"; }

  size_t depth_ = 0;
  bool in_map_ = false;
  std::map<std::string, std::string>::iterator current_;
};

}  // namespace

std::vector<SafetensorsEntry> parse_safetensors_header(std::string_view text, std::string_view file) {
  HeaderEvents events(file);
  Json::sax_parse(text.begin(), text.end(), &events);
  return std::move(events.entries);
}

std::map<std::string, std::string> parse_safetensors_index(std::string_view text, std::string_view file) {
  IndexEvents events(file);
  Json::sax_parse(text.begin(), text.end(), &events);
  if (!events.found || events.weight_map.empty()) invalid_file("{}: weight_map is missing or empty", file);
  return std::move(events.weight_map);
}

}  // namespace qwick
