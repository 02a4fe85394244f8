// For some seconds many workers contend for one thing through `rlock run`, and some of them are killed. The
// witness looks on. $RLOCK_CONTENTION sets the seconds; default: 3 in CI, else 1.

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <list>
#include <random>

#include "support/cli.h"
#include "support/eventually.h"
#include "support/redis_server.h"
#include "support/witness.h"

using namespace rlock::test;

namespace {

constexpr int kWorkers = 20;
/// Long enough for a machine on which twenty rlocks with sanitizers share one processor.
constexpr auto kLease = 6000ms;

std::chrono::seconds span() {
  if (const char* seconds = std::getenv("RLOCK_CONTENTION")) return std::chrono::seconds{std::atoi(seconds)};
  return std::getenv("CI") != nullptr ? 3s : 1s;
}

/// One thing to contend for, and the witness that sees its violation.
struct Contest {
  std::string name;
  std::string left{};  ///< the keys that may stay, one a line
  Words (*options)(int worker);
  std::string (*witness)(int worker);  ///< `for 2`, `shared for 2`, ...
  std::string tag{};                   ///< the tag that the witness records: "$RLOCK_FENCE"
};

Words type(const char* name) { return {"--type", name}; }
std::string alone(int) { return "for 2"; }

const Contest kContests[] = {
    {.name = "lock", .options = [](int) { return type("lock"); }, .witness = alone},
    {.name = "fenced",
     .left = "redisson_lock_token:{k}\n",
     .options = [](int) { return type("fenced"); },
     .witness = alone,
     .tag = "$RLOCK_FENCE"},
    {.name = "spin", .options = [](int) { return type("spin"); }, .witness = alone},
    {.name = "plain",
     .options = [](int) { return Words{"--type", "plain", "--backoff", "2ms..20ms"}; },
     .witness = alone},
    {.name = "read and write",
     .options = [](int worker) { return type(worker % 4 == 0 ? "write" : "read"); },
     .witness = [](int worker) { return std::string{worker % 4 == 0 ? "for 2" : "shared for 2"}; }},
    {.name = "permit",
     .left = "k\n",
     .options = [](int) { return Words{"--permits", "3"}; },
     .witness = [](int) { return std::string{"slots 3 for 5"}; },
     .tag = "$RLOCK_SLOT"},
};

class Arena {
 public:
  explicit Arena(const Contest& contest) : contest_(contest) {}

  /// Lets the workers contend. With `kills`, one worker in five gets SIGKILL at some time of its life.
  void fight(bool kills) {
    const StopWatch watch;
    std::list<Worker> workers;
    for (int number = 0; number < kWorkers; ++number) workers.push_back(hire(number));
    while (!workers.empty()) {
      for (auto worker = workers.begin(); worker != workers.end();) {
        if (worker->run.running()) {
          if (kills && worker->number % 5 == 0 && worker->lived.elapsed() > worker->life)
            worker->run.signal(SIGKILL);
          ++worker;
          continue;
        }
        note(*worker);
        const int number = worker->number;
        worker = workers.erase(worker);
        if (watch.elapsed() >= span()) continue;
        const auto next = workers.insert(worker, hire(number));
        if (kills && number % 5 == 0 && chance_() % 2 == 0) kill_young(*next);
      }
      REQUIRE_MESSAGE(watch.elapsed() < span() + 60s, contest_.name << ": the workers come to no end");
      std::this_thread::sleep_for(1ms);
    }
  }

  /// Checks that only the documented keys are left. Keys of killed workers may stay for the length of their
  /// lease.
  void look_back() {
    CAPTURE(contest_.name);
    const Verdict verdict = judge(folder_.path());
    MESSAGE(contest_.name << ": " << verdict.str() << ", " << killed_ << " killed");
    CHECK(verdict.holds >= 10);
    CHECK(verdict.clean());
    CHECK(others_ == "");
    // Within its lease a killed worker's lock is free again.
    CHECK(ask_again() == 0);
    // Permits of a killed worker return to the pool at the first acquire after the end of their lease. Facts
    // about a killed waiter stay until one lease after its last question.
    const auto rests = [&] { return redis_.keys() == contest_.left; };
    for (int i = 0; i < 2 && !eventually(rests, 2 * kLease); ++i) ask_again();
    CHECK_MESSAGE(rests(), redis_.keys());
  }

  std::vector<Stay> stays() const { return read_stays(folder_.path()); }
  std::string value(const std::string& key) { return redis_.cli({"GET", key}); }

 private:
  struct Worker {
    int number;
    Rlock run;
    std::chrono::milliseconds life;  ///< the time until a victim is killed, unless it ends earlier
    StopWatch lived{};
  };

  Worker hire(int number) { return {number, start(number), std::chrono::milliseconds{chance_() % 500}}; }

  /// Kills the worker soon after its start. The loop in fight() comes too late for most runs, because they end sooner.
  void kill_young(Worker& worker) {
    std::this_thread::sleep_for(std::chrono::milliseconds{chance_() % 30});
    worker.run.signal(SIGKILL);
  }

  Words arguments(int worker) const {
    Words all{"run", "-k", "k", "-q", "--lease", std::to_string(kLease.count()) + "ms"};
    for (const auto& word : contest_.options(worker)) all.push_back(word);
    return all;
  }

  int ask_again() const {
    Words words = arguments(1);
    words.insert(words.end(), {"-w", std::to_string(2 * kLease.count()) + "ms", "--", "true"});
    return Rlock{words, redis_.environment()}.exit_code(4 * kLease);
  }

  Rlock start(int worker) const {
    Words all = arguments(worker);
    all.push_back("--");
    Words command = witness_command(folder_.path(), contest_.witness(worker));
    if (!contest_.tag.empty()) {
      all.insert(all.end(), {"sh", "-c", "exec \"$@\" as " + contest_.tag, "sh"});
    }
    all.insert(all.end(), command.begin(), command.end());
    return Rlock{all, redis_.environment()};
  }

  void note(Worker& worker) {
    const int status = worker.run.exit_code();
    if (status == 128 + SIGKILL)
      ++killed_;
    else if (status != 0)
      others_ += std::to_string(status) + ": " + worker.run.err();
  }

  const Contest& contest_;
  RedisServer redis_;
  TempDir folder_;
  std::mt19937 chance_{1};
  int killed_ = 0;
  std::string others_;
};

/// Checks that tokens grow in the order in which the commands ran.
void check_tokens_grow(const std::vector<Stay>& stays) {
  long long last = 0;
  for (const Stay& stay : stays) {
    const long long token = std::stoll(stay.name);
    CHECK(token > last);
    last = token;
  }
}

/// Checks that commands which ran together had different slots, all within the pool.
void check_slots_differ(const std::vector<Stay>& stays) {
  for (std::size_t i = 0; i < stays.size(); ++i) {
    CHECK(std::stoi(stays[i].name) < 3);
    for (std::size_t j = i + 1; j < stays.size() && stays[j].enter < stays[i].exit; ++j)
      CHECK(stays[i].name != stays[j].name);
  }
}

}  // namespace

TEST_CASE("twenty workers never violate the lock that they contend for, and leave nothing behind") {
  for (const Contest& each : kContests) {
    Arena arena{each};
    arena.fight(/*kills=*/false);
    arena.look_back();
  }
}

TEST_CASE("if one worker in five is killed, the others go on within the lease, as safely") {
  for (const Contest& each : kContests) {
    Arena arena{each};
    arena.fight(/*kills=*/true);
    arena.look_back();
    if (each.name == "fenced") check_tokens_grow(arena.stays());
    if (each.name == "permit") check_slots_differ(arena.stays());
    if (each.name == "permit") CHECK(arena.value("k") == "3");
  }
}
