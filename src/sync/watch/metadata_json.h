#pragma once

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
MetadataJson brief_or_null(const std::optional<std::string>& text, std::size_t most);

template <class Value>
MetadataJson value_or_null(const std::optional<Value>& value) {
  return value ? MetadataJson(*value) : MetadataJson();
}

/// An object; nothing where it is none, or longer than anything that we write.
std::optional<MetadataJson> parse_object(std::string_view json);

/// Nothing where there is none of this name, or another type.
std::optional<std::string> text_at(const MetadataJson& object, const char* name);

/// Nothing where it is negative or more than 2^53, too.
std::optional<std::int64_t> number_at(const MetadataJson& object, const char* name);

}  // namespace rlock
