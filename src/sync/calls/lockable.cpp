#include "sync/calls/lockable.h"

#include <fmt/format.h>

#include <new>

#include "base/key_text.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The exception that is being handled.
Failure caught() {
  try {
    throw;
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return no_memory();
  }
}

/// Reads a reply by a decoder that may throw, and does not throw itself. If the reply is an error or has another
/// shape, returns a Failure.
template <class Answer, class Decode>
Answer read_by(const Decode& decode, const Reply& reply) noexcept {
  if (reply.is_error()) return failure_of(reply);
  try {
    return decode(reply);
  } catch (...) {  // becomes a Failure
    return caught();
  }
}

RenewAnswer decode_renewal(const Reply& reply) {
  const std::string word = reply.text();
  if (word == "renewed") return Renewed{};
  if (word == "not_ours") return NotOurs{};
  throw Error{Error::internal, fmt::format("a script answered {} to renew", in_quotes(word))};
}

}  // namespace

AcquireAnswer Waitable::read(const Reply& reply) const noexcept {
  AcquireAnswer answer = read_by<AcquireAnswer>([this](const Reply& good) { return decode(good); }, reply);
  // The server does not name the key that has the wrong type, and a user would not guess the keys beside the
  // lock.
  if (auto* failure = std::get_if<Failure>(&answer); failure != nullptr && reply.is_error("WRONGTYPE")) {
    std::vector<std::string> names;
    for (const std::string& key : ask().keys) names.push_back(quoted(LockName{key}));
    if (names.size() > 1)
      failure->text = fmt::format("{}; it may be one of {}", failure->text, joined(names, ", "));
  }
  return answer;
}

RenewAnswer Lockable::read_renewal(const Reply& reply) const noexcept {
  return read_by<RenewAnswer>(decode_renewal, reply);
}

ReleaseAnswer Lockable::read_release(const Reply& reply) const noexcept {
  return read_by<ReleaseAnswer>([this](const Reply& good) { return decode_release(good); }, reply);
}

}  // namespace rlock
