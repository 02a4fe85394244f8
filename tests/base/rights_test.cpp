#include "base/rights.h"

#include <doctest/doctest.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "support/cli.h"
#include "support/contains.h"
#include "support/process.h"
#include "support/skipped.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// Checks the message of a copy of rlock that has more rights than its caller. The refusal comes before rlock
/// reads the config file, which does not exist.
void check_refusal(Words words, const std::string& part) {
  words.insert(words.end(), {"run", "--config", "/nonexistent", "-k", "k", "--", "echo", "hello"});
  Process run{words, Rlock::clean_environment()};
  CHECK(run.exit_code() == 78);
  CHECK(run.out().empty());
  CHECK(run.err().starts_with("rlock: refuses to run with rights that its caller does not have"));
  CHECK(contains(run.err(), part));
  CHECK(run.err().find('\n') == run.err().size() - 1);
}

/// False: files cannot give capabilities here, because we are not root, or the file system or a container forbids
/// it.
bool give_capability(const std::string& file) {
  struct statvfs place{};
  if (::statvfs(file.c_str(), &place) != 0 || (place.f_flag & ST_NOSUID) != 0) return false;
  if (::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 0) return false;
  if (::prctl(PR_CAPBSET_READ, CAP_NET_BIND_SERVICE, 0, 0, 0) != 1) return false;
  vfs_cap_data rights{};
  rights.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
  rights.data[0].permitted = 1U << CAP_NET_BIND_SERVICE;
  return ::geteuid() == 0 &&
         ::setxattr(file.c_str(), "security.capability", &rights, XATTR_CAPS_SZ_2, 0) == 0;
}

}  // namespace

TEST_CASE("rlock refuses the rights of a set-uid or set-gid file before it reads anything") {
  CHECK_NOTHROW(refuse_borrowed_rights());
  if (::geteuid() != 0) return skipped("only root can have two users");
  check_refusal({"perl", "-e", "$< = 12345; exec @ARGV", rlock_binary()},
                "(uid 0, gid 0, for uid 12345, gid 0)");
  check_refusal({"perl", "-e", "$( = 12345; exec @ARGV", rlock_binary()}, "chmod ug-s");
}

TEST_CASE("rlock refuses the capabilities of its file") {
  TempDir folder;
  const std::string copy = for_everybody(folder.path());
  if (!give_capability(copy)) return skipped("no file gives capabilities here");

  check_refusal({"setpriv", "--reuid=12345", "--regid=12345", "--clear-groups", copy}, "setcap -r");
}
