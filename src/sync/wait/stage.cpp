#include "sync/wait/stage.h"

#include "sync/calls/arguments.h"

namespace rlock {

std::vector<Call> Stage::followers() const {
  std::vector<Call> calls;
  for (const auto& part : parts) append(calls, part.followers);
  return calls;
}

std::vector<UndoCall> Stage::undo_calls(Wake wake) const {
  if (wake == Wake::nobody && together) {
    std::vector<Call> followers;
    for (const auto& part : parts) append(followers, part.release_followers);
    return {{*together->undo(wake), std::move(followers)}};
  }
  std::vector<UndoCall> calls;
  for (const auto& part : parts) {
    auto call = part.lock->undo(wake);
    if (call) calls.push_back({*std::move(call), part.release_followers});
  }
  return calls;
}

std::vector<Stage> stages_of(std::vector<PartOf<Waitable>> parts, const std::optional<Together>& together) {
  std::vector<Stage> stages;
  if (together) {
    stages.push_back({.parts = std::move(parts), .together = together});
    return stages;
  }
  for (auto& part : parts) stages.push_back({.parts = {std::move(part)}});
  return stages;
}

}  // namespace rlock
