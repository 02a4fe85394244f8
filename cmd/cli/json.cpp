#include "cmd/cli/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

Json in_base64(const LockName& key) { return Json::word(to_base64(redacted(key.str()))); }

}  // namespace

Json::Json(std::string_view text) : Json(word(redacted(text))) {}

Json Json::word(std::string_view text) {
  Json json;
  const auto is_plain = [](char byte) { return byte >= ' ' && byte < 0x7f && byte != '"' && byte != '\\'; };
  if (std::ranges::all_of(text, is_plain)) {
    json.text_ = "\"" + std::string{text} + "\"";
    return json;
  }
  // sync/calls/record_json.h uses this class too, and a second one would make the binary larger.
  using Writer = nlohmann::ordered_json;
  json.text_ = Writer(text).dump(-1, ' ', /*ensure_ascii=*/true, Writer::error_handler_t::replace);
  return json;
}

Json::Json(const LockName& key) : Json(key.str()) {
  if (utf8(key.str()) != key.str()) base64_ = in_base64(key).text_;
}

Json Json::object(const Fields& fields) {
  Json json;
  json.text_ = "{";
  for (const auto& [name, value] : fields) {
    json.text_ += fmt::format("{}{}:{}", json.text_.size() > 1 ? "," : "", word(name).text_, value.text_);
    if (!value.base64_.empty()) json.text_ += fmt::format(",\"{}_base64\":{}", name, value.base64_);
  }
  json.text_ += "}";
  return json;
}

Json Json::document(Fields fields) {
  fields.emplace(fields.begin(), "v", 1);
  return object(fields);
}

Json Json::array(const std::vector<Json>& items) {
  Json json;
  json.text_ = "[";
  for (const Json& item : items) json.text_ += (json.text_.size() > 1 ? "," : "") + item.text_;
  json.text_ += "]";
  return json;
}

Json Json::keys(const std::vector<LockName>& keys) {
  const std::vector<Json> items(keys.begin(), keys.end());
  Json json = array(items);
  if (std::ranges::all_of(items, [](const Json& item) { return item.base64_.empty(); })) return json;
  std::vector<Json> bytes;
  for (const LockName& key : keys) bytes.push_back(in_base64(key));
  json.base64_ = array(bytes).text_;
  return json;
}

}  // namespace rlock
