#include "sync/kinds/lockable.h"

#include <fmt/format.h>

#include "base/text.h"

namespace rlock {
namespace {

/// Turns a decoder that throws into a reader that does not: a reply out of shape becomes a Failure.
template <class Answer, class Decode>
Answer read_by(const Decode& decode, const Reply& reply) noexcept {
  if (reply.is_error()) return failure_of(reply);
  try {
    return decode(reply);
  } catch (const Error& error) {
    return Failure{error.kind(), error.what()};
  }
}

RenewAnswer decode_renewal(const Reply& reply) {
  const std::string word = reply.text();
  if (word == "renewed") return Renewed{};
  if (word == "not_ours") return NotOurs{};
  throw Error{Error::internal, fmt::format("a script answered {} to renew", in_quotes(word))};
}

}  // namespace

Attempt Waitable::read(const Reply& reply) const noexcept {
  return read_by<Attempt>([this](const Reply& good) { return decode(good); }, reply);
}

RenewAnswer Lockable::read_renewal(const Reply& reply) const noexcept {
  return read_by<RenewAnswer>(decode_renewal, reply);
}

ReleaseAnswer Lockable::read_release(const Reply& reply) const noexcept {
  return read_by<ReleaseAnswer>([this](const Reply& good) { return decode_release(good); }, reply);
}

}  // namespace rlock
