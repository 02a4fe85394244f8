#include "base/rights.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/error.h"

namespace rlock {

void refuse_borrowed_rights() {
  // The kernel gives each program these ids in its auxiliary vector. To read them from it saves four system calls.
  if (::getauxval(AT_UID) != ::getauxval(AT_EUID) || ::getauxval(AT_GID) != ::getauxval(AT_EGID))
    throw Error{
        Error::config,
        fmt::format("refuses to run with rights that its caller does not have (uid {}, gid {}, for uid "
                    "{}, gid {}); if its file is set-uid or set-gid: chmod ug-s",
                    ::geteuid(), ::getegid(), ::getuid(), ::getgid())};
  // The capabilities of a file, or a security policy, set AT_SECURE without changing the ids. Then OpenSSL would ignore
  // SSL_CERT_FILE, but we would not.
  if (::getauxval(AT_SECURE) != 0)
    throw Error{
        Error::config,
        "refuses to run with rights that its caller does not have; its file has capabilities (setcap -r "
        "removes them), or a security policy adds rights"};
}

}  // namespace rlock
