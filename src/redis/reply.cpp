#include "redis/reply.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

[[noreturn]] void unexpected(const char* wanted, const Reply& reply) {
  const std::string got = reply.is_nil()                       ? "nothing"
                          : reply.kind() == Reply::Kind::array ? "a list"
                                                               : in_quotes(reply.text());
  throw Error{Error::internal, fmt::format("the server answered {} where {} was expected", got, wanted)};
}

/// The error of a command inside a script. In Redis 6 a prefix names one or two places in the script:
/// "ERR Error running script (call to f_...): @user_script:1: @user_script: 1: -READONLY You can't write ...".
std::string_view unwrapped(std::string_view text) {
  constexpr std::string_view kPlace = "@user_script:";
  if (!text.starts_with("ERR Error running script")) return text;
  const auto place = text.rfind(kPlace);
  if (place == text.npos) return text;
  const auto line_end = text.find(": ", place + kPlace.size());
  if (line_end == text.npos) return text;
  text.remove_prefix(line_end + 2);
  if (text.starts_with('-')) text.remove_prefix(1);
  return text;
}

}  // namespace

bool Reply::is_error(std::string_view code) const noexcept {
  if (!is_error()) return false;
  const std::string_view text = unwrapped(text_);
  return text.starts_with(code) && (text.size() == code.size() || text[code.size()] == ' ');
}

std::int64_t Reply::integer() const {
  if (kind_ == Kind::integer) return integer_;
  if (kind_ == Kind::text || kind_ == Kind::status)
    if (const auto number = parse_integer(text_)) return *number;
  unexpected("a number", *this);
}

Milliseconds Reply::milliseconds() const {
  constexpr std::chrono::milliseconds kMost = std::chrono::hours{24} * 365 * 140;
  return std::clamp(std::chrono::milliseconds{integer()}, -kMost, kMost);
}

std::string Reply::text() const {
  if (kind_ == Kind::integer) return fmt::to_string(integer_);
  if (kind_ == Kind::nil || kind_ == Kind::array) unexpected("text", *this);
  return text_;
}

const std::vector<Reply>& Reply::items() const {
  if (kind_ != Kind::array) unexpected("a list", *this);
  return items_;
}

const Reply& Reply::at(std::size_t index) const {
  static const Reply nothing;
  return index < items().size() ? items_[index] : nothing;
}

}  // namespace rlock
