#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "sync/kinds/lockable.h"
#include "sync/kinds/pub_sub.h"
#include "sync/kinds/values.h"

namespace rlock {

/// More keys, arguments or values of a call.
template <class Item>
void append(std::vector<Item>& all, const std::vector<Item>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// A duration as scripts take it: "30000".
inline std::string number(Milliseconds duration) { return std::to_string(duration.count()); }

/// A way to release as scripts take it.
inline std::string word(Way way) {
  switch (way) {
    case Way::first: return "first";
    case Way::again: return "again";
    case Way::undo: return "undo";
  }
  return "";
}

/// Whether to announce as sharded pub/sub too: the argument that follows the channel.
inline std::string word(PubSub pub_sub) { return pub_sub == PubSub::sharded_too ? "1" : "0"; }

}  // namespace rlock
