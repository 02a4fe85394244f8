#include "redis/reply.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

[[noreturn]] void unexpected(const char* wanted, const Reply& reply) {
  const std::string got = reply.is_nil()                       ? "nothing"
                          : reply.kind() == Reply::Kind::array ? "a list"
                                                               : quoted(reply.text());
  throw Error{Error::internal, fmt::format("the server answered {} where {} was expected", got, wanted)};
}

}  // namespace

bool Reply::is_error(std::string_view code) const noexcept {
  return is_error() && text_.starts_with(code) && (text_.size() == code.size() || text_[code.size()] == ' ');
}

std::int64_t Reply::integer() const {
  if (kind_ == Kind::integer) return integer_;
  if (kind_ == Kind::text || kind_ == Kind::status) {
    const bool negative = text_.starts_with('-');
    if (const auto number = parse_count(std::string_view{text_}.substr(negative ? 1 : 0)))
      return negative ? -*number : *number;
  }
  unexpected("a number", *this);
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
