#pragma once

#include <functional>
#include <vector>

namespace rlock {

/// What becomes of work in the background when it is ready.
enum class Start {
  now,          ///< it goes on
  taken_back,   ///< it must return and change nothing: the process that started it does any undo
  parent_died,  ///< it must do the undo itself
};

/// The work of a process in the background. It calls `at_work` once, when it is ready.
using BackgroundWork = std::function<void(const std::function<Start()>& at_work)>;

/// Runs `work` in a new process. When `work` calls `at_work`, runs `then` here and returns. The new process has its own
/// session, and of our descriptors only `kept`; a standard one that it does not keep becomes /dev/null. The process
/// ends when `work` returns. Throws Error{system} if it cannot be started, or ends before `at_work`. If `work` throws,
/// the new process prints the error. If `then` throws, `at_work` returns Start::taken_back.
void go_on_in_background(const BackgroundWork& work, const std::function<void()>& then,
                         std::vector<int> kept);

}  // namespace rlock
