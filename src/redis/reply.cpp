#include "redis/reply.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>

#include "base/error.h"
#include "base/text.h"

namespace rlock {
namespace {

constexpr int kDeepest = 64;

[[noreturn]] void unexpected(const char* wanted, const Reply& reply) {
  const std::string got = reply.is_nil()                       ? "nothing"
                          : reply.kind() == Reply::Kind::array ? "a list"
                                                               : quoted(reply.text());
  throw Error{Error::internal, fmt::format("the server answered {} where {} was expected", got, wanted)};
}

std::vector<Reply> copy_items(const redisReply& raw, int depth) {
  std::vector<Reply> items;
  items.reserve(raw.elements);
  for (std::size_t i = 0; i < raw.elements; ++i) items.push_back(copy_of(*raw.element[i], depth + 1));
  return items;
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

Reply copy_of(const redisReply& raw, int depth) {
  if (depth > kDeepest) throw Error{Error::unreachable, "the server's answer is nested too deeply"};
  switch (raw.type) {
    case REDIS_REPLY_NIL: return Reply{};
    case REDIS_REPLY_INTEGER:
    case REDIS_REPLY_BOOL: return Reply{static_cast<std::int64_t>(raw.integer)};
    case REDIS_REPLY_STATUS: return Reply{std::string{raw.str, raw.len}, Reply::Kind::status};
    case REDIS_REPLY_ERROR: return Reply::error({raw.str, raw.len});
    case REDIS_REPLY_ARRAY:
    case REDIS_REPLY_MAP:
    case REDIS_REPLY_SET:
    case REDIS_REPLY_PUSH:
    case REDIS_REPLY_ATTR: return Reply{copy_items(raw, depth)};
    default: return Reply{std::string{raw.str, raw.len}};  // strings, doubles, big numbers, verbatim
  }
}

}  // namespace rlock
