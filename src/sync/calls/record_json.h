#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

// Common functions for the records beside a key: metadata, history, the record of a latch. They write texts of bounded
// length. When they read, they trust nothing, because any client may have written it.

namespace rlock {

using RecordJson = nlohmann::ordered_json;

/// The text without passwords, cut to `most` bytes, as valid UTF-8.
std::string brief(std::string_view text, std::size_t most);
std::optional<std::string> brief_or_null(const std::optional<std::string>& text, std::size_t most);

/// A value as JSON text, with the same bytes as nlohmann's dump(). It builds no tree, because a tree costs a
/// run more than sending the text.
std::string as_json(std::string_view utf8);
template <std::integral Number>
std::string as_json(Number number) {
  if constexpr (std::same_as<Number, bool>) return number ? "true" : "false";
  return std::to_string(number);
}
template <class Value>
std::string as_json(const std::optional<Value>& value) {
  return value ? as_json(*value) : "null";
}

class JsonObject {
 public:
  template <class Value>
  JsonObject& add(std::string_view name, const Value& value) {
    return add_json(name, as_json(value));
  }
  JsonObject& add_json(std::string_view name, std::string_view json);
  std::string str() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

/// Parses an object. Empty: it is none, or longer than 64 KiB.
std::optional<RecordJson> parse_object(std::string_view json);

/// Empty: there is no member of this name, or it has another type.
std::optional<std::string> text_at(const RecordJson& object, const char* name);

/// Empty also if the number is negative or more than 2^53.
std::optional<std::int64_t> number_at(const RecordJson& object, const char* name);
std::optional<ServerTime> time_at(const RecordJson& object, const char* name);

}  // namespace rlock
