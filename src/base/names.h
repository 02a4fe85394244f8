#pragma once

#include <compare>
#include <string>
#include <utility>

namespace rlock {

/// A string that means one thing. Two names of different things do not convert into each other,
/// so a key can never stand where an owner belongs.
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

/// What is locked: the Redis key as it stands on the server, prefix included. 1 byte to 4 KiB.
using LockName = Name<struct LockNameMeaning>;

/// Who holds or waits: unique per hold, never reused by another living holder.
using Owner = Name<struct OwnerMeaning>;

/// One request that changes something: its repetition is answered, not done again.
using RequestId = Name<struct RequestIdMeaning>;

/// A channel on which a release is announced.
using Channel = Name<struct ChannelMeaning>;

}  // namespace rlock
