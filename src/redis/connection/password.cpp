#include "redis/connection/password.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/as_given.h"
#include "base/blocking.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The most bytes in a password file. If the user names a wrong file, which is large, rlock does not read all of it.
constexpr std::size_t kLongestPassword = 4096;

/// The pause between two looks whether the patience is over, while a pipe has no data.
constexpr Milliseconds kLookAgain{100};

bool is_regular(const struct stat& facts) { return S_ISREG(facts.st_mode); }

class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    // With O_NONBLOCK, neither open() nor read() can block for ever at a pipe.
    fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd_) refuse(std::strerror(errno));
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error{Error::config, fmt::format("password file {} ({}): {}", in_quotes(path_),
                                           as_given("password-file", "--password-file"), why)};
  }

  bool can_be_read_again() const {
    struct stat facts{};
    return ::fstat(fd_.number(), &facts) == 0 && is_regular(facts);
  }

  bool is_pipe() const {
    struct stat facts{};
    return ::fstat(fd_.number(), &facts) == 0 && S_ISFIFO(facts.st_mode);
  }

  /// Its only line. `patience`: for the end of a pipe.
  std::string password(const Patience& patience) const {
    std::string text = content(patience);
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty())
      refuse(
          is_pipe()
              ? "is empty; a pipe can be read only once, and another rlock may have read it: use a regular file or "
                "RLOCK_PASSWORD"
              : "is empty");
    if (text.starts_with("\xef\xbb\xbf") || text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      refuse("begins with a byte order mark; save it as UTF-8 without one");
    if (text.find('\0') != text.npos) refuse("contains a NUL byte; save it as UTF-8");
    if (text.find('\n') != text.npos) refuse("has more than one line");
    keep_secret(text);
    return text;
  }

 private:
  std::string content(const Patience& patience) const {
    std::array<char, kLongestPassword> buffer;
    std::string text;
    for (;;) {
      if (!wait_until_ready(fd_.number(), POLLIN, earliest(patience.until, within(kLookAgain).until))) {
        if (patience.interrupted() || has_passed(patience.until))
          refuse("did not end in time; the process at its other end must write the password and close it");
        continue;
      }
      const ssize_t got = ::read(fd_.number(), buffer.data(), buffer.size());
      if (got == 0) return text;
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) refuse(std::strerror(errno));
      text.append(buffer.data(), static_cast<std::size_t>(got));
      if (text.size() > kLongestPassword) refuse("is too long for a password");
    }
  }

  const std::string& path_;
  Descriptor fd_;
};

}  // namespace

PasswordSource PasswordSource::fixed(std::string password) {
  PasswordSource source;
  keep_secret(password);
  source.known_ = std::make_shared<Known>(Known{.password = std::move(password)});
  return source;
}

PasswordSource PasswordSource::file(std::string path) {
  PasswordSource source;
  source.path_ = std::move(path);
  if (!source.path_.empty()) source.known_ = std::make_shared<Known>();
  return source;
}

std::optional<std::string> PasswordSource::read() const {
  if (!known_) return std::nullopt;
  if (!known_->failure && !known_->password) {
    const File file{path_};
    if (file.can_be_read_again()) return file.password({.until = TimePoint::min()});
    remember({.until = TimePoint::min()});
  }
  if (known_->failure) throw Error{*known_->failure};
  return known_->password;
}

void PasswordSource::await(const Patience& patience) const {
  struct stat facts{};
  if (!known_ || known_->failure || known_->password) return;
  if (::stat(path_.c_str(), &facts) == 0 && !is_regular(facts)) remember(patience);
}

void PasswordSource::remember(const Patience& patience) const {
  try {
    known_->password = File{path_}.password(patience);
  } catch (const Error& error) {  // read() throws it when a connection needs the password
    known_->failure = error;
  }
}

}  // namespace rlock
