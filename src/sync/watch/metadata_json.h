#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

// What the metadata and the history of a key have in common: texts of bounded length are written, and of what
// somebody else has written nothing is believed to be there.

namespace rlock {

using MetadataJson = nlohmann::ordered_json;

/// Without passwords, cut, as valid UTF-8.
std::string brief(std::string_view text, std::size_t most);
std::optional<std::string> brief_or_null(const std::optional<std::string>& text, std::size_t most);

/// What a run writes, as text: the bytes that dump() of the same object has, without a tree, which costs a run more
/// than to send it.
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

/// An object; nothing where it is none, or longer than anything that we write.
std::optional<MetadataJson> parse_object(std::string_view json);

/// Nothing where there is none of this name, or another type.
std::optional<std::string> text_at(const MetadataJson& object, const char* name);

/// Nothing where it is negative or more than 2^53, too.
std::optional<std::int64_t> number_at(const MetadataJson& object, const char* name);

}  // namespace rlock
