#pragma once

#include <optional>
#include <string>

#include "support/cli.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A script that finds rlock in $RLOCK; the test can find the script's keeper and guardian.
class ShellScript {
 public:
  ShellScript(const RedisServer& redis, const std::string& text, const Words& more = {}) {
    write_file(folder_ / "script.sh", "#!/bin/sh\n" + text);
    Process::Options options = redis.environment();
    options.env["RLOCK"] = rlock_binary();
    options.env["FOLDER"] = folder_.path();
    Words words{"sh", folder_ / "script.sh"};
    words.insert(words.end(), more.begin(), more.end());
    process_.emplace(words, options);
  }

  Process& process() { return *process_; }
  std::string file(const std::string& name) const { return read_file(folder_ / name); }
  const std::string& folder() const { return folder_.path(); }

  pid_t keeper() const { return keeper_in(process_->family()); }
  pid_t guardian() const { return guardian_in(process_->family()); }

 private:
  TempDir folder_;
  std::optional<Process> process_;
};

}  // namespace rlock::test
