#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "redis/call.h"
#include "redis/reply.h"

struct redisReader;

namespace rlock {

/// Makes Replies of bytes as they come, RESP2 and RESP3, whatever the pieces are. A server that is hostile or
/// broken costs us no more memory than a reply may take: no length of a text is believed before its bytes are
/// there, and no number of items without counting what they take.
class ReplyReader {
 public:
  static constexpr std::size_t kMostBytes = kLargestReply;
  static constexpr std::size_t kMostItems = kMostBytes / sizeof(Reply);
  static constexpr int kDeepest = 64;

  struct Item {
    Reply reply;
    bool push = false;  ///< RESP3 says so; in RESP2 it looks like any array
  };

  ReplyReader();
  ~ReplyReader();

  void feed(std::string_view bytes);

  /// The next whole reply, if all that it consists of takes no more than
  /// `most` bytes; nothing while it is incomplete. A push may take kMostBytes:
  /// anybody may send one to a channel, and it is not the server's fault.
  /// Throws Error{unreachable} for what is not the Redis protocol, and for more than the bounds.
  [[nodiscard]] std::optional<Item> next(std::size_t most = kMostBytes);

 private:
  struct Budget {
    std::size_t left = 0;  ///< bytes that the reply may still take
    bool push = false;
  };
  friend struct ReplyBuilder;
  struct Free {
    void operator()(redisReader* reader) const noexcept;
  };

  Budget budget_;
  std::size_t most_ = kMostBytes;
  std::unique_ptr<redisReader, Free> reader_;
};

}  // namespace rlock
