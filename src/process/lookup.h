#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace rlock {

/// Looks up a host name in a separate process. The system's resolver cannot be interrupted, and a silent name
/// server holds it for half a minute.
///
/// It is passive: its owner polls fd() for reading, calls ready(), and then looks at found() and failure().
/// It has no deadline; the destructor ends the helper at once. REQUIRES: the process has one thread.
class Lookup {
 public:
  /// Returns numeric addresses, IPv6 with its zone. Throws std::runtime_error with the reason. Runs in the
  /// helper.
  using Resolver = std::function<std::vector<std::string>(const std::string& host)>;

  explicit Lookup(const std::string& host, const Resolver& resolve = system_resolver);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  int fd() const noexcept { return answer_.number(); }
  void ready();

  /// The addresses in the order in which the system would try them; never empty.
  const std::optional<std::vector<std::string>>& found() const noexcept { return found_; }
  const std::optional<std::string>& failure() const noexcept { return failure_; }

  static std::vector<std::string> system_resolver(const std::string& host);

 private:
  void understand();

  pid_t helper_ = -1;
  Descriptor answer_;
  std::string text_;
  std::optional<std::vector<std::string>> found_;
  std::optional<std::string> failure_;
};

}  // namespace rlock
