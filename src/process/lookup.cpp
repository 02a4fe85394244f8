#include "process/lookup.h"

#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "process/close_range.h"
#include "process/fork.h"
#include "process/signal_mask.h"
#include "process/std_descriptors.h"

namespace rlock {
namespace {

/// At most this many bytes of an answer are read. If a name has more addresses, the rest is not needed.
constexpr std::size_t kLongestAnswer = 4096;

/// The first character of an answer that is a reason instead of addresses.
constexpr char kSorry = '!';

/// The helper ends with its parent and blocks all signals (^C goes to the whole foreground group). Besides the pipe
/// for its answer it keeps no descriptors open, because another process may wait for their end.
void detach(int answer, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  block_all_signals();
  close_all_but({answer});
  fill_std_descriptors();
}

std::string answer_of(const Lookup::Resolver& resolve, const std::string& host) {
  try {
    return joined(resolve(host), "\n");
  } catch (const std::exception& error) {  // goes through the pipe: nothing catches it in the helper
    return kSorry + std::string{error.what()};
  }
}

/// Helpers that were killed but not yet reaped. A global, because children belong to the process, and outlive
/// their Lookup.
std::vector<pid_t>& dying() {
  static std::vector<pid_t> pids;
  return pids;
}

void reap() {
  std::erase_if(dying(), [](pid_t pid) { return ::waitpid(pid, nullptr, WNOHANG) != 0; });
}

}  // namespace

Lookup::Lookup(const std::string& host, const Resolver& resolve) {
  reap();
  Pipe pipe;
  if (!pipe) throw_system_error("cannot look up a name");
  answer_ = std::move(pipe.reading);
  ::fcntl(fd(), F_SETFL, O_NONBLOCK);
  const pid_t parent = ::getpid();
  helper_ = fork_for([&] {
    detach(pipe.writing.number(), parent);
    std::string answer = answer_of(resolve, host);
    // Only whole addresses are kept, because a part of one may be the address of another host.
    if (answer.size() > kLongestAnswer)
      answer.resize(std::min(answer.rfind('\n', kLongestAnswer), kLongestAnswer));
    (void)!::write(pipe.writing.number(), answer.data(), answer.size());
  });
  if (helper_ < 0) throw_system_error("cannot look up a name");
}

Lookup::~Lookup() {
  // As PID 1, rlock may have reaped the helper as an orphan, and its pid may be another process now.
  if (answer_ && ::waitpid(helper_, nullptr, WNOHANG) == 0) ::kill(helper_, SIGKILL);
  dying().push_back(helper_);
  reap();
}

void Lookup::ready() {
  std::array<char, kLongestAnswer> buffer;
  while (answer_) {
    const ssize_t got = ::read(fd(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {
      answer_.reset();
      return understand();
    }
    text_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void Lookup::understand() {
  if (text_.starts_with(kSorry)) {
    failure_ = text_.substr(1);
  } else if (text_.empty()) {
    failure_ = "the look-up found nothing";
  } else {
    found_ = split(text_, '\n');
  }
}

std::vector<std::string> Lookup::system_resolver(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  // A host without IPv6 need not wait for a name server that ignores IPv6 questions.
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* raw = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &raw);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all{raw, &freeaddrinfo};
  if (error != 0) {
    const char* const text = error == EAI_SYSTEM ? std::strerror(errno) : ::gai_strerror(error);
    throw std::runtime_error{lower_first(text)};
  }
  std::vector<std::string> found;
  for (const addrinfo* one = raw; one != nullptr; one = one->ai_next) {
    std::array<char, NI_MAXHOST> numeric{};
    if (::getnameinfo(one->ai_addr, one->ai_addrlen, numeric.data(), numeric.size(), nullptr, 0,
                      NI_NUMERICHOST) == 0)
      found.emplace_back(numeric.data());
  }
  return found;
}

}  // namespace rlock
