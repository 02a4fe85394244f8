#include "sync/calls/record_json.h"

#include <algorithm>

#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

/// A longer record is not read. It comes from another client, or from nested holds with very long keys.
constexpr std::size_t kLongestFacts = 64 * 1024;

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

}  // namespace

std::string brief(std::string_view text, std::size_t most) { return utf8(redacted(text).substr(0, most)); }

std::optional<std::string> brief_or_null(const std::optional<std::string>& text, std::size_t most) {
  return text ? std::optional{brief(*text, most)} : std::nullopt;
}

std::string as_json(std::string_view utf8) {
  const auto is_plain = [](char byte) { return (byte < 0 || byte >= ' ') && byte != '"' && byte != '\\'; };
  if (!std::ranges::all_of(utf8, is_plain)) return RecordJson(utf8).dump();
  return "\"" + std::string{utf8} + "\"";
}

JsonObject& JsonObject::add_json(std::string_view name, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  text_ += as_json(name);
  text_ += ':';
  text_ += json;
  return *this;
}

std::optional<RecordJson> parse_object(std::string_view json) {
  if (json.size() > kLongestFacts) return std::nullopt;
  RecordJson read = RecordJson::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return std::nullopt;
  return read;
}

std::optional<std::string> text_at(const RecordJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::int64_t> number_at(const RecordJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestNumber))
    return std::nullopt;
  const auto number = found->get<std::int64_t>();
  if (number < 0) return std::nullopt;
  return number;
}

std::optional<ServerTime> time_at(const RecordJson& object, const char* name) {
  const auto number = number_at(object, name);
  return number ? std::optional{ServerTime{Milliseconds{*number}}} : std::nullopt;
}

}  // namespace rlock
