#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/names.h"
#include "base/time.h"

namespace rlock {

/// Writes to stdout, all of it. Throws Error{system} when that
/// cannot be done: lost output must not look like success.
/// A reader that has gone away is such an error: SIGPIPE is ignored since the start.
void print(std::string_view text);

/// The same for a caller that has something to undo first: returns the errno that stopped it; 0: done.
[[nodiscard]] int try_print(std::string_view text) noexcept;

/// print(), with a newline at the end, in one write.
void print_line(std::string_view line);

/// Writes the text to stderr unchanged. If that fails, there is no place to report it.
void print_on_stderr(std::string_view text) noexcept;

/// Writes all of `text`, or answers the errno that stopped it; 0: done.
[[nodiscard]] int write_all(int fd, std::string_view text) noexcept;

/// A JSON value, rendered: fields keep the order in which they were said. Pure ASCII, so
/// that a terminal that shows it obeys nothing in it; text is escaped losslessly, except
/// for passwords, which become ***, and bytes that are no UTF-8, which become U+FFFD. A
/// key that has such bytes says them in a second field, "key_base64" beside "key".
class Json {
 public:
  Json() : text_("null") {}
  Json(std::nullptr_t) : Json() {}
  Json(bool truth) : text_(truth ? "true" : "false") {}
  Json(std::integral auto number) : text_(std::to_string(number)) {}
  Json(Milliseconds duration) : Json(duration.count()) {}
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view{text}) {}
  Json(const char* text) : Json(std::string_view{text}) {}
  Json(const LockName& key);
  template <class Meaning>
  Json(const Name<Meaning>& name) : Json(name.str()) {}
  template <class Value>
  Json(const std::optional<Value>& value) : Json(value ? Json{*value} : Json{}) {}

  /// What no password may change: a word of ours, or an id that scripts give back to us.
  static Json word(std::string_view text);
  static Json object(const std::vector<std::pair<std::string_view, Json>>& fields);
  static Json array(const std::vector<Json>& items);

  /// An array that has a second field, too, where one of the keys needs it.
  static Json keys(const std::vector<LockName>& keys);

  /// Each of `values` by itself: [1,2] or ["a","b"].
  template <class Values>
  static Json list(const Values& values) {
    return array({values.begin(), values.end()});
  }

  const std::string& str() const noexcept { return text_; }

 private:
  std::string text_;
  std::string base64_;  ///< the value of that second field; empty: there is none
};

}  // namespace rlock
