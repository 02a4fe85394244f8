// The witness: it runs as the command of a lock and sees whether it is alone; it also judges the logs of
// witnesses. See support/witness.h.
//
//   witness hold FOLDER [shared | slots N] [for MS] [exit N] [as NAME]     run as the command of a lock
//   witness check FOLDER [min N] [allow MS]                                0 clean, 1 violations, 2 fewer than N holds
//
// With `allow`, overlaps of up to this many milliseconds in the log are reported but are no violations;
// kernel locks are not used then.
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/witness.h"

using namespace rlock::test;

namespace {

struct Orders {
  std::string folder;
  std::string mode = "exclusive";
  std::size_t limit = 1;
  std::chrono::milliseconds span{0};
  int status = 0;
  std::string name = "-";
};

Orders read_orders(const std::vector<std::string>& words) {
  Orders orders{.folder = words.at(0)};
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word == "shared")
      orders.mode = word;
    else if (word == "slots")
      orders.mode = word, orders.limit = std::stoul(words.at(++i));
    else if (word == "for")
      orders.span = std::chrono::milliseconds{std::stoi(words.at(++i))};
    else if (word == "exit")
      orders.status = std::stoi(words.at(++i));
    else if (word == "as")
      orders.name = words.at(++i);
    else
      throw std::invalid_argument{"witness: what is '" + word + "'?"};
  }
  return orders;
}

void append(const std::string& file, const std::string& line) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::perror("witness: log");
    std::exit(3);
  }
  ::close(fd);
}

/// An id that stays unique when a process id is used again.
const std::string& our_id() {
  static const std::string id = std::to_string(::getpid()) + "." + std::to_string(boottime_ns());
  return id;
}

void note(const Orders& orders, const char* event) {
  append(orders.folder + "/log", std::to_string(boottime_ns()) + " " + event + " " + our_id() + " " +
                                     orders.mode + " " + std::to_string(orders.limit) + " " + orders.name +
                                     "\n");
}

/// Takes a kernel lock; false: another process has every slot, though the lock should exclude that. Each
/// process that the command starts inherits the descriptor: a grandchild that outlives the command keeps the
/// lock.
bool kernel_lock(const Orders& orders) {
  const int how = orders.mode == "shared" ? LOCK_SH : LOCK_EX;
  for (std::size_t slot = 0; slot < orders.limit; ++slot) {
    const auto file = orders.folder + "/slot." + std::to_string(slot);
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT, 0600);
    if (::flock(fd, how | LOCK_NB) == 0) return true;
    ::close(fd);
  }
  return false;
}

long read_counter(const std::string& file) {
  long value = 0;
  std::ifstream{file} >> value;
  return value;
}

/// Writes the number in one write. If the process were killed between two writes, half a number would look like a
/// lost update.
void write_counter(const std::string& file, long value) {
  std::string text = std::to_string(value);
  text.resize(20, ' ');
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::write(fd, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    std::perror("witness: counter");
    std::exit(3);
  }
  ::close(fd);
}

int hold(const Orders& orders) {
  note(orders, "enter");
  if (!kernel_lock(orders)) append(orders.folder + "/refused", std::to_string(::getpid()) + "\n");

  const auto counter = orders.folder + "/counter";
  const bool counts = orders.mode == "exclusive";
  const long before = counts ? read_counter(counter) : 0;
  const auto until = std::chrono::steady_clock::now() + orders.span;
  while (std::chrono::steady_clock::now() < until) {
    const auto rest = until - std::chrono::steady_clock::now();
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(rest, std::chrono::milliseconds{10}));
    if (std::chrono::steady_clock::now() < until) note(orders, "alive");
  }
  if (counts) write_counter(counter, before + 1);
  note(orders, "exit");
  return orders.status;
}

int check(const std::vector<std::string>& words) {
  std::map<std::string, long> numbers{{"min", 0}, {"allow", 0}};
  for (std::size_t i = 1; i + 1 < words.size(); i += 2) numbers.at(words[i]) = std::stol(words[i + 1]);
  const auto verdict = judge(words.at(0));
  std::cout << verdict.str() << '\n';
  if (verdict.holds < static_cast<std::size_t>(numbers["min"])) return 2;
  if (numbers["allow"]) return verdict.longest > std::chrono::milliseconds{numbers["allow"]} ? 1 : 0;
  return verdict.clean() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words{argv + std::min(argc, 2), argv + argc};
  const std::string verb = argc > 1 ? argv[1] : "";
  if (verb == "hold" && !words.empty()) return hold(read_orders(words));
  if (verb == "check" && !words.empty()) return check(words);
  std::cerr << "usage: witness hold|check FOLDER ...\n";
  return 64;
} catch (const std::exception& error) {
  std::cerr << "witness: " << error.what() << '\n';
  return 64;
}
