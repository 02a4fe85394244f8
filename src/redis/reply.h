#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"

namespace rlock {

/// A server's reply, copied from the wire: a plain value. Doubles, booleans and big numbers of RESP3 become
/// text or integer; its maps and sets become flat arrays.
class Reply {
 public:
  enum class Kind { nil, integer, text, status, error, array };

  Reply() = default;  ///< nil
  explicit Reply(std::int64_t number) : kind_(Kind::integer), integer_(number) {}
  explicit Reply(std::string text, Kind kind = Kind::text) : kind_(kind), text_(std::move(text)) {}
  explicit Reply(std::vector<Reply> items) : kind_(Kind::array), items_(std::move(items)) {}
  static Reply error(std::string text) { return Reply{std::move(text), Kind::error}; }

  Kind kind() const noexcept { return kind_; }
  bool is_nil() const noexcept { return kind_ == Kind::nil; }
  bool is_error() const noexcept { return kind_ == Kind::error; }

  /// Is it an error that starts with this word, such as "NOSCRIPT"? Looks inside the error if a server before
  /// Redis 7 wraps the error of a script.
  bool is_error(std::string_view code) const noexcept;

  /// The integer, or text that is an integer (GET inside a script gives text). Throws Error{internal}
  /// otherwise.
  std::int64_t integer() const;

  /// integer() as a duration or a server's time, in milliseconds. It is limited to 140 years in both
  /// directions, so that callers can add and compare such values. Throws Error{internal} as integer() does.
  Milliseconds milliseconds() const;
  ServerTime server_time() const { return ServerTime{milliseconds()}; }

  /// Text, status or error text; an integer in decimal. Throws Error{internal} otherwise.
  std::string text() const;

  /// The items of an array. Throws Error{internal} if it is no array.
  const std::vector<Reply>& items() const;

  /// The item at `index`; nil if the array is shorter. Throws Error{internal} if it is no array.
  const Reply& at(std::size_t index) const;

 private:
  friend struct ReplyBuilder;  // fills it as the bytes come

  Kind kind_ = Kind::nil;
  std::int64_t integer_ = 0;
  std::string text_;
  std::vector<Reply> items_;
};

}  // namespace rlock
