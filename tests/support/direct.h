#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"
#include "redis/reply_reader.h"
#include "support/redis_server.h"

namespace rlock::test {

/// Runs Calls on a server and hands their Replies back, one after the other: for tests of what a script does.
/// No retries, no time limits, nothing of the way on which rlock itself reaches a server.
class Direct {
 public:
  explicit Direct(const RedisServer& server);
  ~Direct();

  /// The answer; error replies too.
  Reply run(const Call& call);

  /// The same call two times: both answers. For "may be sent twice".
  std::pair<Reply, Reply> twice(const Call& call);

 private:
  Reply command(const std::vector<std::string>& words);

  int fd_;
  ReplyReader reader_;
};

/// A reply as text that compares: 7, 'text', nil, [1, 'a'], !ERR ....
std::string written(const Reply& reply);

/// Everything that a server holds: types, values and whether there is a TTL, sorted. Two of them are equal
/// when nothing has changed but the rest of the TTLs. Bytes that cannot be printed are shown as \xNN.
std::string contents(Direct& redis, const std::string& pattern = "*");

}  // namespace rlock::test
