#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// A JSON value as text; fields keep their order. It has printable ASCII only, so it cannot control a
/// terminal. Text is escaped without loss, except passwords, which become ***, and bytes that are no UTF-8,
/// which become U+FFFD. A key with such bytes gets a second field, "key_base64" beside "key".
class Json {
 public:
  Json() : text_("null") {}
  Json(std::nullptr_t) : Json() {}
  Json(bool truth) : text_(truth ? "true" : "false") {}
  Json(std::integral auto number) : text_(std::to_string(number)) {}
  Json(Milliseconds duration) : Json(duration.count()) {}
  Json(ServerTime time) : Json(time.time_since_epoch()) {}
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view{text}) {}
  Json(const char* text) : Json(std::string_view{text}) {}
  Json(const LockName& key);
  template <class Meaning>
  Json(const Name<Meaning>& name) : Json(name.str()) {}
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json{*value} : Json{}) {}

  /// A text that redaction must not change: a word of ours, or an id that scripts pass back to us.
  static Json word(std::string_view text);
  using Fields = std::vector<std::pair<std::string_view, Json>>;
  static Json object(const Fields& fields);
  /// The whole answer of a verb, or a line of its output: an object whose first field is the version of its schema.
  static Json document(Fields fields);
  static Json array(const std::vector<Json>& items);

  /// An array of keys. It gets a second field if one of them needs it.
  static Json keys(const std::vector<LockName>& keys);

  /// An array of the `values`: [1,2] or ["a","b"].
  template <class Values>
  static Json list(const Values& values) {
    return array({values.begin(), values.end()});
  }

  /// An array of make(value) for each of the `values`.
  template <class Values, class Make>
  static Json list(const Values& values, const Make& make) {
    std::vector<Json> items;
    for (const auto& value : values) items.push_back(make(value));
    return array(items);
  }

  const std::string& str() const noexcept { return text_; }

 private:
  std::string text_;
  std::string base64_;  ///< the value of the second field; empty: there is none
};

}  // namespace rlock
