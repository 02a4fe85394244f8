#pragma once

#include <memory>
#include <string>
#include <vector>

#include "redis/call.h"
#include "redis/connection/reply_reader.h"
#include "redis/reply.h"
#include "support/redis_server.h"

namespace rlock::test {

/// Runs Calls on a server and returns their Replies, one after the other: for tests of the scripts. It has no
/// retries and no time limits, and uses nothing of rlock's own connections.
class Direct {
 public:
  explicit Direct(const RedisServer& server);
  ~Direct();

  /// The reply; error replies too.
  Reply run(const Call& call);

  /// Runs the same call twice, and returns both replies. It tests scripts that may be sent twice.
  std::pair<Reply, Reply> twice(const Call& call);

 private:
  Reply command(const std::vector<std::string>& words);

  int fd_;
  ReplyReader reader_;
};

/// A reply as text for comparisons: 7, 'text', nil, [1, 'a'], !ERR ....
std::string written(const Reply& reply);

/// All data of a server as text: types, values and whether there is a TTL, sorted. Two of these texts are
/// equal if only the remaining TTLs differ. Bytes that cannot be printed are \xNN.
std::string contents(Direct& redis, const std::string& pattern = "*");

}  // namespace rlock::test
