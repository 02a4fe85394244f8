#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "redis/call_words.h"
#include "redis/script.h"

namespace rlock {

/// One invocation: a script with its keys and arguments, or a plain command. A value; it knows no connection.
struct Call {
  const Script* script = nullptr;  ///< null: a plain command
  /// KEYS. For a plain command: the key that decides the Cluster slot; it is not sent.
  CallWords keys{};
  CallWords args{};  ///< ARGV. For a plain command: its words, the name first
  /// The same call with one key, for a Cluster that answers TRYAGAIN. While a slot moves, a Cluster refuses calls
  /// with several keys. Holds one call at most, which has no such form itself.
  std::vector<Call> while_slot_moves{};

  /// The most memory that the reply may take, in bytes, texts and items together. Most replies are a few numbers. A
  /// server that sends more than this is hostile or broken, and rlock may keep a thousand replies at a time.
  std::size_t largest_reply = 16U << 10;
};

/// For replies that grow with the data on a server. It is more than a SCAN of 1000 keys of 4 KiB each.
constexpr std::size_t kLargestReply = 8U << 20;

/// The same call, but its reply may be large: rlock keeps only a few of these at a time.
inline Call with_large_reply(Call call) {
  call.largest_reply = kLargestReply;
  return call;
}

/// A plain command. In a Cluster, `key` decides the node.
inline Call command(std::vector<std::string> words, std::string key = {}) {
  Call call;
  if (!key.empty()) call.keys = {std::move(key)};
  call.args = std::move(words);
  return call;
}

inline Call get(const std::string& key) { return command({"GET", key}, key); }

}  // namespace rlock
