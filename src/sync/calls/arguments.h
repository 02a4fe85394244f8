#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <type_traits>
#include <vector>

#include "base/time.h"
#include "sync/calls/claim.h"
#include "sync/calls/pub_sub.h"
#include "sync/calls/values.h"

namespace rlock {

/// Appends `more` to `all`: keys, arguments or values of a call.
template <class Item>
void append(std::vector<Item>& all, std::type_identity_t<std::vector<Item>> more) {
  std::ranges::move(more, std::back_inserter(all));
}

/// A duration as scripts take it, in milliseconds: "30000".
inline std::string in_ms(Milliseconds duration) { return std::to_string(duration.count()); }

/// A moment as scripts take it, in milliseconds since the epoch.
inline std::string in_ms(ServerTime time) { return in_ms(time.time_since_epoch()); }

/// The word by which scripts know a way to release. The release of an inner hold undoes the request that acquired it.
inline std::string word(Way way) {
  switch (way) {
    case Way::first: return "first";
    case Way::again: return "again";
    case Way::undo:
    case Way::inner: return "undo";
  }
  return "";
}

/// The argument `sharded` of the scripts: "1" if they also announce by sharded pub/sub, else "0".
inline std::string word(PubSub pub_sub) { return pub_sub == PubSub::sharded_too ? "1" : "0"; }

}  // namespace rlock
