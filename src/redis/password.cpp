#include "redis/password.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/as_given.h"
#include "base/descriptor.h"
#include "base/error.h"
#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

/// The most bytes in a password file. If the user names a wrong file, which is large, rlock does not read all of it.
constexpr std::size_t kLongestPassword = 4096;

class File {
 public:
  explicit File(const std::string& path) : path_(path) {
    // Without O_NONBLOCK, opening a named pipe without a writer would block for ever. With it, the pipe reads
    // as an empty file.
    fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!fd_) refuse(std::strerror(errno));
    ::fcntl(fd_.number(), F_SETFL, 0);
  }

  [[noreturn]] void refuse(std::string_view why) const {
    throw Error{Error::config, fmt::format("password file {} ({}): {}", in_quotes(path_),
                                           as_given("password-file", "--password-file"), why)};
  }

  bool can_be_read_again() const {
    struct stat facts{};
    return ::fstat(fd_.number(), &facts) == 0 && S_ISREG(facts.st_mode);
  }

  std::string content() const {
    std::array<char, kLongestPassword> buffer;
    std::string text;
    for (;;) {
      const ssize_t got = ::read(fd_.number(), buffer.data(), buffer.size());
      if (got == 0) return text;
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) refuse(std::strerror(errno));
      text.append(buffer.data(), static_cast<std::size_t>(got));
      if (text.size() > kLongestPassword) refuse("is too long for a password");
    }
  }

 private:
  const std::string& path_;
  Descriptor fd_;
};

}  // namespace

PasswordSource PasswordSource::fixed(std::string password) {
  PasswordSource source;
  keep_secret(password);
  source.known_ = std::make_shared<std::optional<std::string>>(std::move(password));
  return source;
}

PasswordSource PasswordSource::file(std::string path) {
  PasswordSource source;
  source.path_ = std::move(path);
  if (!source.path_.empty()) source.known_ = std::make_shared<std::optional<std::string>>();
  return source;
}

std::optional<std::string> PasswordSource::read() const {
  if (!known_) return std::nullopt;
  if (*known_) return *known_;

  const File file{path_};
  std::string text = file.content();
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  if (text.empty()) file.refuse("is empty");
  if (text.starts_with("\xef\xbb\xbf") || text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    file.refuse("begins with a byte order mark; save it as UTF-8 without one");
  if (text.find('\0') != text.npos) file.refuse("contains a NUL byte; save it as UTF-8");
  if (text.find('\n') != text.npos) file.refuse("has more than one line");
  keep_secret(text);
  if (!file.can_be_read_again()) *known_ = text;
  return text;
}

}  // namespace rlock
