#include "base/rights.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"

namespace rlock {

void refuse_borrowed_rights() {
  if (::getuid() != ::geteuid() || ::getgid() != ::getegid())
    throw Error{
        Error::config,
        fmt::format("refuses to run with rights that its caller does not have (uid {}, gid {}, for uid "
                    "{}, gid {}); if its file is set-uid or set-gid: chmod ug-s",
                    ::geteuid(), ::getegid(), ::getuid(), ::getgid())};
  // Where only a security policy says so, too: secure_getenv() would ignore RLOCK_URL, and the lock would be
  // taken on another server than the one that was meant.
  if (::getauxval(AT_SECURE) != 0)
    throw Error{
        Error::config,
        "refuses to run with rights that its caller does not have; its file has capabilities (setcap -r "
        "removes them), or a security policy adds rights"};
}

}  // namespace rlock
