#pragma once

#include <compare>
#include <string>
#include <utility>

namespace rlock {

/// A string with one meaning. Names with different meanings do not convert into each other, so a key can
/// never take the place of an owner.
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

/// The key of a lock in Redis, with the prefix. It has 1 byte to 4 KiB.
using LockName = Name<struct LockNameMeaning>;

/// A holder or a waiter: unique per hold, never reused while it lives.
using Owner = Name<struct OwnerMeaning>;

/// One request that changes data: if it is repeated, it is answered but not done again.
using RequestId = Name<struct RequestIdMeaning>;

/// A channel on which releases are announced.
using Channel = Name<struct ChannelMeaning>;

}  // namespace rlock
