#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "redis/script.h"

namespace rlock {

/// One invocation: a script with its keys and arguments, or a plain command. A value; it knows no connection.
struct Call {
  const Script* script = nullptr;   ///< nothing: a plain command
  std::vector<std::string> keys{};  ///< KEYS. Of a plain command: what decides the cluster slot; not sent
  std::vector<std::string> args{};  ///< ARGV. Of a plain command: its words, the name first
  /// The same with one key, for a cluster that answers TRYAGAIN: while a slot moves it refuses calls with
  /// several keys. At most one, which has none of its own.
  std::vector<Call> while_slot_moves{};

  /// Bytes of memory that the reply may take, texts and items together. Of most calls it is a few numbers,
  /// and a server that sends more is hostile or broken: a thousand of such replies may be kept at a time.
  std::size_t largest_reply = 16U << 10;
};

/// For answers that grow with what people have on a server: more than SCAN of 1000 keys of 4 KiB each.
constexpr std::size_t kLargestReply = 8U << 20;

/// The same call, for an answer that may be as large as any: one, or a few, are kept at a time.
inline Call with_large_reply(Call call) {
  call.largest_reply = kLargestReply;
  return call;
}

/// A plain command, routed by `key` where there are slots.
inline Call command(std::vector<std::string> words, std::string key = {}) {
  Call call;
  if (!key.empty()) call.keys.push_back(std::move(key));
  call.args = std::move(words);
  return call;
}

}  // namespace rlock
