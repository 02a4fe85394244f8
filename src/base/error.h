#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rlock {

/// A failure on its way to main, which knows the exit status of each kind (cmd/cli/exit_code). The text is for a
/// person. It begins in lower case, and says who failed, what failed, why, and what to do. It does not begin with
/// "rlock: ", and has no bytes that a terminal would obey (see base/text.h).
class Error : public std::runtime_error {
 public:
  enum Kind {
    usage,        ///< the command line makes no sense (64)
    wrong_type,   ///< the key holds something else (65)
    unreachable,  ///< no server can be used now: silent, busy, out of memory, no primary or quorum (69)
    internal,     ///< rlock or the server broke a promise (70)
    system,       ///< the operating system refused (71)
    denied,       ///< authentication, permission, TLS identity (77)
    config,       ///< a configuration that cannot work (78)
  };

  Error(Kind kind, const std::string& text) : std::runtime_error(text), kind_(kind) {}

  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// Throws Error{system}: `what` failed, and the system's text for `error` says why: "cannot start a process: Resource
/// temporarily unavailable".
[[noreturn]] void throw_system_error(std::string_view what, int error = errno);

}  // namespace rlock
