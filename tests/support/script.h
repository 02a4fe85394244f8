#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>

#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"

namespace rlock::test {

/// A script that finds rlock in $RLOCK; the test can find the script's keeper and guardian.
class Script {
 public:
  Script(const RedisServer& redis, const std::string& text, const Words& more = {}) {
    write_file(folder_ / "script.sh", "#!/bin/sh\n" + text);
    Process::Options options = redis.environment();
    options.env["RLOCK"] = rlock_binary();
    options.env["FOLDER"] = folder_.path();
    Words words{"sh", folder_ / "script.sh"};
    words.insert(words.end(), more.begin(), more.end());
    process_.emplace(words, options);
  }

  Process& process() { return *process_; }
  std::string file(const std::string& name) { return read_file(folder_ / name); }
  const std::string& folder() const { return folder_.path(); }

  /// The keeper: among the script's descendants, the process whose command line contains --while-pid.
  pid_t keeper() { return find(false); }
  pid_t guardian() { return find(true); }

 private:
  pid_t find(bool guardian) {
    for (const pid_t pid : process_->family()) {
      const std::string name = read_file(fmt::format("/proc/{}/comm", pid));
      const std::string words = read_file(fmt::format("/proc/{}/cmdline", pid));
      if (guardian ? name == "guardian\n" : name == "rlock\n" && contains(words, "--while-pid")) return pid;
    }
    return 0;
  }

  TempDir folder_;
  std::optional<Process> process_;
};

}  // namespace rlock::test
