#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "redis/reply.h"

struct redisReader;

namespace rlock {

/// Makes Replies of bytes as they come, RESP2 and RESP3, whatever the pieces are. A server that is hostile or broken
/// costs us no more than kMostBytes: no length is believed before its bytes are there.
class ReplyReader {
 public:
  /// More than any answer we ask for: SCAN of 1000 keys of 4 KiB each.
  static constexpr std::size_t kMostBytes = 16U << 20;
  static constexpr std::size_t kMostItems = 100'000;  ///< of one reply, all levels together
  static constexpr int kDeepest = 64;

  struct Item {
    Reply reply;
    bool push = false;  ///< RESP3 says so; in RESP2 it looks like any array
  };

  ReplyReader();
  ~ReplyReader();

  void feed(std::string_view bytes);

  /// The next whole reply; nothing while it is incomplete.
  /// Throws Error{unreachable} for what is not the Redis protocol, and for more than the bounds above.
  std::optional<Item> next();

 private:
  struct Budget {
    std::size_t items = 0;
    std::size_t bytes = 0;
    bool push = false;
  };
  friend struct ReplyBuilder;
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };

  Budget budget_;
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace rlock
