#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace rlock {

/// What a name means, asked in a process of its own: the system's resolver can neither be interrupted nor
/// hurried, and a name server that never answers holds it for half a minute.
///
/// Passive like a Source, for its owner: poll fd() for reading, call
/// ready(), look at found() and failure(). It has no deadline of its own; the
/// destructor ends the helper at once. REQUIRES: a process with one thread.
class Lookup {
 public:
  /// Numeric addresses, IPv6 with its zone; throws std::runtime_error with the reason. Runs in the helper.
  using Resolver = std::function<std::vector<std::string>(const std::string& host)>;

  explicit Lookup(const std::string& host, const Resolver& resolve = system_resolver);
  ~Lookup();
  Lookup(const Lookup&) = delete;
  Lookup& operator=(const Lookup&) = delete;

  int fd() const noexcept { return answer_.number(); }
  void ready();

  /// In the order in which the system would try them; never empty.
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
