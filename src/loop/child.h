#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "loop/loop.h"

namespace rlock {

/// A command in a process group of its own. Entirely passive: look at exited() after a turn.
class Child final : public Source {
 public:
  Child(Loop& loop, const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~Child() override;

  bool exited() const noexcept { return exited_; }
  int wait_status() const noexcept { return status_; }
  int exec_errno() const noexcept { return exec_errno_; }
  void signal(int number);

  int fd() const override { return pidfd_; }
  short interest() const override;
  void ready(short events, TimePoint now) override;

 private:
  Loop& loop_;
  pid_t pid_ = -1;
  int pidfd_ = -1;
  int status_ = 0;
  int exec_errno_ = 0;
  bool exited_ = false;
};

}  // namespace rlock
