#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>

#include "support/list_redis.h"
#include "support/toy_lock.h"
#include "sync/wait/acquire.h"

namespace rlock::test {

inline const AcquireRequest kOne{.parts = {part_of(kToy)}};

inline AcquireOptions waiting(const ListRedis& redis, Milliseconds patience) {
  AcquireOptions options;
  options.patience = redis.loop().within(patience);
  return options;
}

inline AcquireOptions single_attempt() {
  AcquireOptions options;
  options.patience = {.until = TimePoint::min()};
  return options;
}

/// How an acquire ended, which must not have got the lock.
inline const GaveUp& gave_up(const AcquireResult& result) {
  REQUIRE(std::holds_alternative<GaveUp>(result));
  return std::get<GaveUp>(result);
}

/// A toy whose acquire is written `asks` times, and whose undo is written `undos` times.
class ToyWrittenAgain final : public Toy {
 public:
  ToyWrittenAgain(ListRedis& redis, std::string name) : Toy(std::move(name)), redis_(redis) {}
  Call encode(Milliseconds waited) const override {
    redis_.attempts = asks;
    return Toy::encode(waited);
  }
  Call release(const ReleaseOptions& options) const override {
    redis_.attempts = undos;
    return Toy::release(options);
  }
  int asks = 1;
  int undos = 1;

 private:
  ListRedis& redis_;
};

}  // namespace rlock::test
