// Processes of a script that belong to another user by now, as by su or sudo, and have lost their parent.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/lock_verbs.h"
#include "support/redis_server.h"
#include "support/skipped.h"
#include "support/started.h"

using namespace rlock::test;
using namespace std::chrono_literals;

namespace {

/// The line with which a script starts a process that outlives its parent. The process changes its user by `become`,
/// and holds a kernel lock on the file `witness`. Its number is in the file `on`.
std::string orphan(const std::string& become) {
  return "(setsid env -i sh -c \"exec 9>>$FOLDER/witness; flock -s 9; echo \\$\\$ >$FOLDER/on; exec " +
         become + " sleep 30\" &)\nsleep 60\n";
}

/// Waits for that process, until it belongs to the user `uid`.
pid_t orphan_of(const TempDir& folder, int uid) {
  const std::string ids = fmt::format("Uid:\t{0}\t{0}\t", uid);
  pid_t pid = 0;
  REQUIRE(eventually(
      [&] {
        const std::string number = read_file(folder / "on");
        pid = number.ends_with('\n') ? std::stoi(number) : 0;
        return pid > 0 && read_file(fmt::format("/proc/{}/comm", pid)) == "sleep\n" &&
               contains(read_file(fmt::format("/proc/{}/status", pid)), ids);
      },
      kPatience));
  return pid;
}

}  // namespace

TEST_CASE(
    "a script's orphan with another user is stopped, also by root without CAP_SYS_RESOURCE, as in a container") {
  if (::geteuid() != 0) return skipped("only root can start another user's process");
  RedisServer redis;
  TempDir folder;
  Process::Options options;
  options.env["FOLDER"] = folder.path();
  const std::string text = "\"$RLOCK\" lock acquire k --while-pid $$ || exit 9\n" +
                           orphan("setpriv --reuid 65534 --regid 65534 --clear-groups");
  Process script = start(redis, {"setpriv", "--bounding-set", "-sys_resource", "bash", "-c", text}, options);
  orphan_of(folder, 65534);
  CHECK(status_of(redis, {"stop", "-q", "k"}) == 0);
  CHECK(status_of(redis, {"run", "-qn", "-k", "k", "--", "flock", "-n", "-x", folder / "witness", "true"}) ==
        0);
}

TEST_CASE(
    "while a script's orphan lives that may not be signalled, the lock is left to its lease, or renewed") {
  if (::geteuid() != 0) return skipped("only root can start another user's process");
  RedisServer redis{{.tcp = true}};
  TempDir folder;
  ::chmod(folder.path().c_str(), 0777);
  const std::string sudo = folder / "sudo";
  output_of({"cp", "/usr/bin/setpriv", sudo});
  ::chmod(sudo.c_str(), 04755);
  const Words nobody{"setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"};
  Words becomes_root = nobody;
  becomes_root.insert(becomes_root.end(), {sudo, "--reuid", "0", "id", "-u"});
  if (output_of(becomes_root) != "0\n") return skipped("set-user-ID programs have no effect here");
  Process::Options options;
  options.env["FOLDER"] = folder.path();
  options.env["RLOCK_URL"] = redis.tcp_url();
  const std::string text = "\"$RLOCK\" lock acquire k --lease 5s --while-pid $$ || exit 9\n" +
                           orphan(sudo + " --reuid 0 --clear-groups");
  Words words = nobody;
  words.insert(words.end(), {"bash", "-c", text});
  options.env["RLOCK"] = for_everybody(folder.path());
  Process script = start(redis, words, options);
  const pid_t pid = orphan_of(folder, 0);
  static_cast<void>(status_of(redis, {"stop", "-q", "-w", "100ms", "k"}));
  REQUIRE(script.exit_code(kPatience) == 128 + SIGTERM);
  CHECK(throughout([&] { return redis.has("k"); }, 2s));
  // If the keeper had seen the process before it changed its user, it renews the lock as long as the process lives.
  const bool known = contains(script.err(), fmt::format("may not signal process {} ", pid));
  if (known) {
    CHECK(throughout([&] { return redis.has("k"); }, 4s));
    ::kill(pid, SIGKILL);
  }
  CHECK(eventually([&] { return !redis.has("k"); }, kPatience));
  if (!known) ::kill(pid, SIGKILL);
}
