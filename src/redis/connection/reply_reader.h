#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "redis/call.h"
#include "redis/reply.h"

struct redisReader;

namespace rlock {

/// Makes Replies from bytes as they arrive, in RESP2 and RESP3, however the bytes are split. A hostile or
/// broken server cannot make us use more memory than a reply may take. Memory for a text is taken only as its
/// bytes arrive, and the items of an array are counted first.
class ReplyReader {
 public:
  static constexpr std::size_t kMostBytes = kLargestReply;
  static constexpr std::size_t kMostItems = kMostBytes / sizeof(Reply);
  static constexpr int kDeepest = 64;

  struct Item {
    Reply reply;
    bool push = false;  ///< RESP3 marks it; in RESP2 a push looks like any array
  };

  ReplyReader();
  ~ReplyReader();

  void feed(std::string_view bytes);

  /// The next whole reply. Empty: it is incomplete. A reply may take `most` bytes of memory. A push may take
  /// kMostBytes, because any client can publish one. Throws Error{unreachable} if it is not the Redis
  /// protocol, or exceeds a bound; bad_alloc if we have no memory for it.
  [[nodiscard]] std::optional<Item> next(std::size_t most = kMostBytes);

 private:
  struct Budget {
    std::size_t left = 0;  ///< the bytes that the reply may still take
    bool push = false;
    bool exceeded = false;  ///< the last element was too large or too deep
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
