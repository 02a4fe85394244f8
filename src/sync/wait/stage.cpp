#include "sync/wait/stage.h"

#include <algorithm>
#include <iterator>

namespace rlock {

std::vector<Call> Stage::followers() const {
  std::vector<Call> calls;
  for (const Item& item : items) std::ranges::copy(item.followers, std::back_inserter(calls));
  return calls;
}

std::vector<UndoCall> Stage::undo_calls(Wake wake) const {
  if (wake == Wake::nobody && together) {
    std::vector<Call> followers;
    for (const Item& item : items) std::ranges::copy(item.release_followers, std::back_inserter(followers));
    return {{*together->undo(wake), std::move(followers)}};
  }
  std::vector<UndoCall> calls;
  for (const Item& item : items) {
    auto call = item.lock->undo(wake);
    if (call) calls.push_back({*std::move(call), item.release_followers});
  }
  return calls;
}

std::vector<Stage> stages_of(std::vector<Item> items, const std::optional<Together>& together) {
  std::vector<Stage> stages;
  if (together) {
    stages.push_back({.items = std::move(items), .together = together});
    return stages;
  }
  for (Item& item : items) stages.push_back({.items = {std::move(item)}});
  return stages;
}

}  // namespace rlock
