#include "sync/watch/metadata_json.h"

#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

/// What is longer was not written by us.
constexpr std::size_t kLongestFacts = 64 * 1024;

constexpr std::int64_t kLargestNumber = std::int64_t{1} << 53;

}  // namespace

std::string brief(std::string_view text, std::size_t most) { return utf8(redacted(text).substr(0, most)); }

MetadataJson brief_or_null(const std::optional<std::string>& text, std::size_t most) {
  return text ? MetadataJson(brief(*text, most)) : MetadataJson();
}

std::optional<MetadataJson> parse_object(std::string_view json) {
  if (json.size() > kLongestFacts) return std::nullopt;
  MetadataJson read = MetadataJson::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!read.is_object()) return std::nullopt;
  return read;
}

std::optional<std::string> text_at(const MetadataJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<std::int64_t> number_at(const MetadataJson& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return std::nullopt;
  if (found->is_number_unsigned() && found->get<std::uint64_t>() > static_cast<std::uint64_t>(kLargestNumber))
    return std::nullopt;
  const auto number = found->get<std::int64_t>();
  if (number < 0) return std::nullopt;
  return number;
}

}  // namespace rlock
