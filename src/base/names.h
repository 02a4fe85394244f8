#pragma once

#include <compare>
#include <string>
#include <utility>

namespace rlock {

/// A string with one meaning. Names with different meanings do not convert into each other, so the compiler refuses a
/// key in the place of an owner.
template <class Meaning>
class Name {
 public:
  Name() = default;
  explicit Name(std::string text) : text_(std::move(text)) {}

  const std::string& str() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }

  friend auto operator<=>(const Name&, const Name&) = default;

 private:
  std::string text_;
};

/// The key of a lock in Redis, with the prefix: 1 to 4096 bytes (Deployment::name() checks that).
using LockName = Name<struct LockNameMeaning>;

/// The identity that holds or waits. rlock makes a new one for each hold (new_owner()), unless the user names one by
/// --owner.
using Owner = Name<struct OwnerMeaning>;

/// The id of a request that changes data. If the request arrives twice, the server carries it out once and answers
/// both.
using RequestId = Name<struct RequestIdMeaning>;

/// A channel of pub/sub, on which releases are announced or a holder gets messages.
using Channel = Name<struct ChannelMeaning>;

}  // namespace rlock
