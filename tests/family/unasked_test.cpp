#include "family/unasked.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <functional>
#include <map>

using namespace rlock;

namespace {

using Pids = std::vector<pid_t>;

std::map<pid_t, ProcessFacts> living;  // what /proc shows now
std::function<Pids()> list_of_proc;    // what a list of it has
int lists = 0;

Pids listed_now() {
  Pids pids;
  for (const auto& [pid, facts] : living) pids.push_back(pid);
  return pids;
}

void start(pid_t pid, pid_t parent, pid_t session, std::int64_t started = 200) {
  living[pid] = {
      .pid = pid, .parent = parent, .session = session, .state = 'S', .threads = 1, .started = started};
}

/// A /proc with the first process of the system (1), a service manager (2), a shell below it (10) and us.
ProcView fresh_proc() {
  living.clear();
  lists = 0;
  list_of_proc = listed_now;
  start(1, 0, 1, 0);
  start(2, 1, 2, 5);
  start(10, 2, 10, 50);
  start(::getpid(), 10, 10, 90);
  return {.all = [] { return ++lists, list_of_proc(); },
          .facts =
              [](pid_t pid) {
                const auto found = living.find(pid);
                return found == living.end() ? std::nullopt : std::optional{found->second};
              }};
}

}  // namespace

TEST_CASE("the first list has everybody who lives, but for us and the kernel's threads") {
  const ProcView proc = fresh_proc();
  start(11, 10, 10);
  living[11].state = 'Z';
  start(12, 2, 0);
  living[12].of_kernel = true;
  Unasked unasked{proc};
  CHECK_FALSE(unasked.begun());
  CHECK(unasked.next() == Pids{1, 2, 10});
  CHECK(unasked.begun());
  unasked.begin_again();
  CHECK_FALSE(unasked.begun());
  CHECK(unasked.next() == Pids{1, 2, 10});
}

TEST_CASE("a later list has new processes, but no child of one that has answered and lives") {
  const ProcView proc = fresh_proc();
  Unasked unasked{proc};
  REQUIRE(unasked.next() == Pids{1, 2, 10});
  start(20, 10, 10);  // its parent has answered
  start(21, 20, 10);  // a child of a new one: only the list after that leaves it out
  start(22, 2, 22);   // the service manager may have adopted it
  start(23, 1, 23);
  living.erase(10);
  start(10, 2, 10, 210);  // another process with this number
  CHECK(unasked.next() == Pids{10, 20, 21, 22, 23});
  start(24, 21, 10);
  CHECK(unasked.next().empty());
}

TEST_CASE("if a process ends while the list is read, another list has its child") {
  const ProcView proc = fresh_proc();
  Unasked unasked{proc};
  REQUIRE(unasked.next() == Pids{1, 2, 10});
  list_of_proc = [] {
    Pids now = listed_now();
    if (lists > 2) return now;
    now.push_back(30);  // it has started 31 and ended; this list has passed the place of 31 before
    start(31, 1, 30);
    return now;
  };
  CHECK(unasked.next() == Pids{31});
  CHECK(lists == 3);
}

TEST_CASE("a search makes no list without end while processes start and end") {
  const ProcView proc = fresh_proc();
  Unasked unasked{proc};
  REQUIRE(unasked.next() == Pids{1, 2, 10});
  list_of_proc = [] {
    Pids now = listed_now();
    now.push_back(1000 + lists);
    return now;
  };
  CHECK(unasked.next().empty());
  CHECK(lists > 10);
  CHECK(lists < 100);
}

TEST_CASE("a zombie may have started one that its list lacks, but only in the first list that has it") {
  const ProcView proc = fresh_proc();
  start(11, 10, 10);
  living[11].state = 'Z';
  Unasked unasked{proc};
  REQUIRE(unasked.next() == Pids{1, 2, 10});
  CHECK(unasked.next().empty());
  CHECK(lists == 2);
}

TEST_CASE("a stranger, or its session, or one above it, is older than the command") {
  const ProcView proc = fresh_proc();
  const Origin command{.session = 100, .born = 100, .parent = ::getpid()};
  const auto stranger = [&](pid_t pid) { return is_stranger(pid, command, proc); };
  start(100, ::getpid(), 100, 100);
  start(101, 100, 100);
  CHECK_FALSE(stranger(100));
  CHECK_FALSE(stranger(101));

  CHECK_FALSE(stranger(101));
  start(102, ::getpid(), 102);
  CHECK_FALSE(stranger(102));
  CHECK(is_stranger(102, {.session = 100, .born = 100, .parent = 10}, proc));  // us is another one's rlock

  CHECK(stranger(10));
  CHECK(stranger(99));  // it has ended
  start(40, 10, 10);
  CHECK(stranger(40));
  start(41, 40, 41);  // a session of its own
  CHECK(stranger(41));
  start(42, 1, 42);  // adopted: anybody's child
  start(43, 42, 42);
  start(44, 2, 44);
  for (const pid_t orphan : {42, 43, 44}) CHECK_FALSE(stranger(orphan));
  start(45, 10, 99);  // the first process of its session has ended
  CHECK(stranger(45));
  start(46, 46, 46);  // a circle is no proof
  CHECK_FALSE(stranger(46));
}
