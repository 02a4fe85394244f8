// Measures how long before the end of its key a command is dead, if one of the processes that watch it fails. It
// prints a number for each fault.
//
// last_heartbeat [RUNS [WORD]]      RUNS of each fault whose name contains WORD; exits with 1 if a command
//                                   has outlived its key
// last_heartbeat beat FILE          runs as the command: ignores TERM, and writes the time into FILE every
//                                   millisecond, as does its child
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/contains.h"
#include "support/eventually.h"
#include "support/machine_pauses.h"
#include "support/redis_server.h"
#include "support/witness.h"

using namespace rlock::test;

namespace {

constexpr std::size_t kAtOnce = 5;  // few, so that the number of processors does not limit the times

/// The times of the last beat of the command and of its child. It is in a file that both of them and the test mmap().
struct Hearts {
  std::atomic<std::int64_t> first, second;
  std::int64_t last() const { return std::max(first.load(), second.load()); }
};

Hearts& map_hearts(const std::string& file) {
  const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (::ftruncate(fd, sizeof(Hearts)) != 0) throw std::runtime_error{"cannot make " + file};
  void* const memory = ::mmap(nullptr, sizeof(Hearts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  return *static_cast<Hearts*>(memory);
}

[[noreturn]] void beat(const std::string& file) {
  Hearts& hearts = map_hearts(file);
  ::signal(SIGTERM, SIG_IGN);
  auto& heart = ::fork() == 0 ? hearts.second : hearts.first;
  for (;;) {
    heart = boottime_ns();
    ::usleep(1000);
  }
}

/// A command under a lock, and a second rlock that waits for the same lock.
class Run {
 public:
  Run() : hearts_(map_hearts(redis_.directory() + "/hearts")) {
    const std::string self = program("last_heartbeat");
    first_.emplace(redis_.rlock("run", "-q", "-k", "k", "--lease", "3s", "--", self, "beat",
                                redis_.directory() + "/hearts"));
    eventually([&] { return hearts_.first > 0 && hearts_.second > 0; }, 20s);
    owner_ = redis_.cli({"HKEYS", "k"});
    second_.emplace(
        redis_.rlock("run", "-q", "-k", "k", "-w", "60s", "--", "sh", "-c", "exec \"$0\" now", self));
  }

  RedisServer& redis() { return redis_; }
  pid_t rlock() const { return first_->pid(); }
  /// The living guardian. Throws if none appears in time, because a signal to -1 would reach every process.
  pid_t guardian() const {
    pid_t found = 0;
    const auto finds = [&] { return (found = guardian_in(first_->family())) > 0; };
    if (!eventually(finds, 20s)) throw std::runtime_error{"there is no guardian: " + first_->err()};
    return found;
  }

  void replace_guardian() {
    const pid_t killed = guardian();
    ::kill(killed, SIGKILL);
    pid_t next = killed;
    eventually([&] { return (next = guardian()) != killed; });
  }

  /// Reads until when the server keeps the key. A frozen server cannot be asked.
  void look() {
    const auto before = boottime_ns();
    const std::int64_t left = redis_.pttl("k");
    // The next holder may have the key already. The latest end counts: a late answer must not lower the end that an
    // earlier look has seen.
    if (left > 0 && redis_.cli({"HKEYS", "k"}) == owner_)
      ends_ = std::max<std::int64_t>(ends_, before + left * 1'000'000);
  }

  /// Freezes the server when no renewal can have followed the last look: the look was a moment ago, and the
  /// lease is young.
  void freeze_server() {
    for (;;) {
      const auto before = boottime_ns();
      look();
      redis_.freeze();
      const auto now = boottime_ns();
      if (now - before < 50'000'000 && ends_ - now > 2'100'000'000) return;
      redis_.thaw();
      ::usleep(10'000);
    }
  }

  void let_next_go() { second_->exit_code(std::chrono::seconds{60}); }

  /// Milliseconds from the last beat to the end of the key; gap(): to the next holder's start.
  double margin() const { return static_cast<double>(ends_ - hearts_.last()) / 1e6; }
  double gap() const { return static_cast<double>(std::stoll(second_->out()) - hearts_.last()) / 1e6; }

  /// For how many milliseconds the machine stood still around the time of the kill.
  double paused(const MachinePauses& pauses) const {
    return static_cast<double>(pauses.between(ends_ - 1'000'000'000, hearts_.last())) / 1e6;
  }

  void clean_up() {
    for (pid_t pid : first_->family()) ::kill(pid, SIGKILL);
  }

 private:
  RedisServer redis_;
  Hearts& hearts_;
  std::optional<Rlock> first_, second_;
  std::string owner_;
  std::int64_t ends_ = 0;
};

struct Fault {
  std::string name;
  std::function<void(Run&)> strike;
  bool server_frozen = false;
};

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"rlock killed", [](Run& run) { ::kill(run.rlock(), SIGKILL); }},
      {"rlock stopped", [](Run& run) { ::kill(run.rlock(), SIGSTOP); }},
      {"guardian stopped, then redis frozen",
       [](Run& run) {
         ::kill(run.guardian(), SIGSTOP);
         run.freeze_server();
       },
       true},
      {"guardian killed, then rlock stopped",
       [](Run& run) {
         run.replace_guardian();
         ::kill(run.rlock(), SIGSTOP);
       }},
      {"guardian killed, then rlock killed",
       [](Run& run) {
         run.replace_guardian();
         ::kill(run.rlock(), SIGKILL);
       }},
      {"guardian stopped, then rlock killed",
       [](Run& run) {
         const pid_t guardian = run.guardian();
         ::kill(guardian, SIGSTOP);
         ::kill(run.rlock(), SIGKILL);
         ::usleep(100'000);
         ::kill(guardian, SIGCONT);
       }},
      {"redis frozen", [](Run& run) { run.freeze_server(); }, true},
  };
  return all;
}

struct Figures {
  std::vector<double> margins, gaps, paused;
  int bad = 0;
};

/// Starts a run for each of these faults at once, and strikes them at different moments of their renewals.
void strike(const std::vector<const Fault*>& faults, std::map<const Fault*, Figures>& figures) {
  static std::mt19937 dice{std::random_device{}()};
  const MachinePauses pauses;
  std::vector<std::unique_ptr<Run>> runs;
  std::vector<std::int64_t> due;
  for (std::size_t i = 0; i < faults.size(); ++i) runs.push_back(std::make_unique<Run>());
  for (std::size_t i = 0; i < faults.size(); ++i)
    due.push_back(boottime_ns() + std::uniform_int_distribution<std::int64_t>{0, 1'200'000'000}(dice));
  std::vector<bool> struck(faults.size(), false);

  const auto until = boottime_ns() + 6'000'000'000;
  while (boottime_ns() < until) {
    for (std::size_t i = 0; i < faults.size(); ++i) {
      if (!struck[i] || !faults[i]->server_frozen) runs[i]->look();
      if (struck[i] || boottime_ns() < due[i]) continue;
      faults[i]->strike(*runs[i]);
      struck[i] = true;
    }
    ::usleep(3000);
  }
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (faults[i]->server_frozen) runs[i]->redis().thaw();
    runs[i]->let_next_go();
    Figures& row = figures[faults[i]];
    row.margins.push_back(runs[i]->margin());
    row.gaps.push_back(runs[i]->gap());
    row.paused.push_back(runs[i]->paused(pauses));
    row.bad += std::min(runs[i]->margin(), runs[i]->gap()) + row.paused.back() <= 0;
    runs[i]->clean_up();
  }
}

void print_row(const Fault& fault, Figures& figures) {
  std::ranges::sort(figures.margins);
  std::printf("%-42s %21.0f %10.0f %10.0f %16.0f %20.0f%s\n", fault.name.c_str(), figures.margins.front(),
              figures.margins[figures.margins.size() / 2], figures.margins.back(),
              std::ranges::min(figures.gaps), std::ranges::max(figures.paused),
              figures.bad ? "   OUTLIVED ITS KEY" : "");
}

int measure(std::size_t runs, const std::string& word) {
  std::vector<const Fault*> left;  // each fault as often as it is to strike
  for (const Fault& fault : faults())
    if (contains(fault.name, word)) left.insert(left.end(), runs, &fault);
  std::printf(
      "lease 3s, the command ignores TERM; milliseconds from its last heartbeat, over %zu runs each\n", runs);
  std::printf("%-42s %10s %10s %10s %14s %20s\n", "fault", "to the key's end: min", "median", "max",
              "next holder: min", "machine stood still");
  std::map<const Fault*, Figures> figures;
  for (std::size_t done = 0; done < left.size(); done += kAtOnce)
    strike({left.begin() + done, left.begin() + std::min(done + kAtOnce, left.size())}, figures);
  int bad = 0;
  for (auto& [fault, row] : figures) {
    print_row(*fault, row);
    bad += row.bad;
  }
  return bad == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "50";
  if (first == "beat") beat(argv[2]);
  if (first == "now") return std::printf("%lld\n", static_cast<long long>(boottime_ns())) > 0 ? 0 : 1;
  return measure(std::stoul(first), argc > 2 ? argv[2] : "");
}
