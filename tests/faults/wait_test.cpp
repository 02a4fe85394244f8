// Whatever the network does, a wait ends in time, and no abandoned acquire ever holds the lock.

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <list>
#include <optional>

#include "faults/fault_line.h"
#include "support/contains.h"
#include "support/skipped.h"
#include "support/unloaded_watch.h"

using namespace rlock::test;

namespace {

struct Fault {
  std::string name;
  std::function<void(FaultLine&)> inject;
  int status = 69;                             ///< the exit status with --wait 2s and with -n; -1: 0 or 69
  std::chrono::milliseconds at_once = 4500ms;  ///< by then a run with -n has given up
};

const std::vector<Fault> kFaults{
    {"connection refused", [](FaultLine& l) { l.proxy.refuse(); }, 69, 1s},
    {"accepted, never answered", [](FaultLine& l) { l.proxy.silence(); }},
    {"proxy frozen", [](FaultLine& l) { l.proxy.freeze(); }},
    {"server frozen (SIGSTOP)", [](FaultLine& l) { l.redis.freeze(); }},
    {"questions lost", [](FaultLine& l) { l.proxy.drop(Way::to_server); }},
    {"answers lost", [](FaultLine& l) { l.proxy.drop(Way::to_client); }},
    {"cut after 3 bytes of the answer", [](FaultLine& l) { l.proxy.cut_after(Way::to_client, 3); }},
    {"cut after 3 bytes of the question", [](FaultLine& l) { l.proxy.cut_after(Way::to_server, 3); }},
    {"reset in the middle of the answer", [](FaultLine& l) { l.proxy.reset_after(Way::to_client, 5); }},
    {"half-closed towards us", [](FaultLine& l) { l.proxy.half_close(Way::to_client); }},
    {"half-closed towards the server", [](FaultLine& l) { l.proxy.half_close(Way::to_server); }},
    {"answers HTTP, once", [](FaultLine& l) { l.proxy.garbage("HTTP/1.1 400 Bad Request\r\n\r\n"); }, -1},
    {"a bulk string of 512 MiB, endless", [](FaultLine& l) { l.proxy.flood("$536870912\r\n"); }},
    {"an array of 10^9 items, endless", [](FaultLine& l) { l.proxy.flood("*1000000000\r\n"); }},
    {"a line without end", [](FaultLine& l) { l.proxy.flood("+"); }},
    {"5 s later in both directions",
     [](FaultLine& l) { l.proxy.delay(Way::to_server, 5s), l.proxy.delay(Way::to_client, 5s); }},
    {"100 ms later in both directions",
     [](FaultLine& l) { l.proxy.delay(Way::to_server, 100ms), l.proxy.delay(Way::to_client, 100ms); }, 0, 2s},
    {"byte by byte", [](FaultLine& l) { l.proxy.bytewise(Way::to_server), l.proxy.bytewise(Way::to_client); },
     0, 2s},
    {"none", [](FaultLine&) {}, 0, 2s},  // last: its memory is the measure for the others
};

/// One run of rlock under one fault, beside the runs under other faults.
struct AcquireAnswer {
  explicit AcquireAnswer(const Fault& what) : fault(what) {}

  const Fault& fault;
  FaultLine line;
  std::optional<Rlock> rlock{};
  std::optional<UnloadedWatch> watch{};  ///< runs from the start of rlock
  std::chrono::milliseconds time{0};
  long most_memory_kb = 0;

  void look() {
    if (!rlock || time > 0ms) return;
    const auto status = read_file("/proc/" + std::to_string(rlock->pid()) + "/status");
    const auto peak = status.find("VmHWM:");
    if (peak != std::string::npos)
      most_memory_kb = std::max(most_memory_kb, std::atol(status.c_str() + peak + 6));
    const auto elapsed = watch->elapsed();  // before running() waits for the process
    if (!rlock->running()) time = std::max(elapsed, std::chrono::milliseconds{1});
  }
};

/// Starts all runs at once: most of the time they only wait.
std::list<AcquireAnswer> attempt_all(const Words& options, std::chrono::milliseconds deadline) {
  std::list<AcquireAnswer> attempts;
  for (const auto& fault : kFaults) attempts.emplace_back(fault);
  for (auto& attempt : attempts) attempt.fault.inject(attempt.line);
  for (auto& attempt : attempts) {
    attempt.rlock.emplace(attempt.line.hold(options));
    attempt.watch.emplace(std::vector{attempt.rlock->pid()});
  }
  eventually(
      [&] {
        bool all = true;
        for (auto& attempt : attempts) attempt.look(), all = all && attempt.time > 0ms;
        return all;
      },
      deadline);
  return attempts;
}

/// Ends the fault, and checks that nothing stays held when the delayed bytes arrive.
void check_nothing_is_left(AcquireAnswer& attempt) {
  attempt.line.proxy.pass();
  attempt.line.redis.thaw();
  CHECK(eventually([&] { return attempt.line.clean(); }, 2s));
  // A delay of 5 s ends only here. Afterwards the next caller gets the lock.
  attempt.line.proxy.hang_up();
  CHECK(attempt.line.hold({"--wait", "5s"}).exit_code() == 0);
  CHECK(eventually([&] { return attempt.line.clean(); }, 2s));
}

void check(AcquireAnswer& attempt, bool waited, long memory_without_fault_kb) {
  CAPTURE(attempt.fault.name);
  CAPTURE(attempt.rlock->err());
  REQUIRE(attempt.time > 0ms);
  const int status = attempt.rlock->exit_code();
  const auto runs = attempt.line.verdict().holds;
  report(attempt.fault.name + (waited ? ", --wait 2s" : ", -n"), runs ? "command ran" : "nothing ran", status,
         attempt.time);

  if (attempt.fault.status >= 0) CHECK(status == attempt.fault.status);
  CHECK((status == 0 || status == 69));
  CHECK(runs == (status == 0 ? 1u : 0u));
  CHECK(attempt.time < promised(waited ? 2300ms : attempt.fault.at_once));
  CHECK(attempt.most_memory_kb < memory_without_fault_kb + 50 * 1024);
  if (status != 0) {
    CHECK(contains(attempt.rlock->err(), "rlock: "));
    check_nothing_is_left(attempt);
  }
}

}  // namespace

TEST_CASE("--wait 2s ends after 2 seconds with every fault of the network, and leaves nothing held") {
  auto attempts = attempt_all({"--wait", "2s"}, 15s);
  for (auto& attempt : attempts) check(attempt, true, attempts.back().most_memory_kb);
}

TEST_CASE("with -n rlock exits with 69 at once if the server cannot be used") {
  auto attempts = attempt_all({"-n"}, 15s);
  for (auto& attempt : attempts) check(attempt, false, attempts.back().most_memory_kb);
}

TEST_CASE(
    "if the server falls silent just before the end of a wait, rlock exits with 75, as if the lock was busy") {
  FaultLine line;
  line.redis.cli({"HSET", "k", "somebody:1", "1"});
  line.redis.cli({"PEXPIRE", "k", "60000"});
  StopWatch watch;
  auto rlock = line.hold({"--wait", "3s"});
  // rlock prints the wait line after one second. By then each question has been answered, and the next one comes
  // later.
  REQUIRE(eventually([&] { return contains(rlock.err(), "held by somebody:1"); }));
  line.proxy.drop(Way::to_client);

  CHECK(rlock.exit_code() == 75);
  CHECK(watch.elapsed() < promised(3300ms));
  CHECK_MESSAGE(contains(rlock.err(), "s ago 'k' was held by somebody:1"), rlock.err());
  report("busy, then answers lost, --wait 3s", "gave up", 75, watch.elapsed());
  CHECK(line.redis.cli({"HGETALL", "k"}) == "somebody:1\n1");
}

TEST_CASE("if the server dies during a wait, rlock exits with 69, and shows the age of the last answer") {
  for (const Words& limit : {Words{"--wait", "2s"}, Words{"--wait", "2s", "-E0"}}) {
    FaultLine line;
    line.redis.cli({"HSET", "k", "somebody:1", "1"});
    line.redis.cli({"PEXPIRE", "k", "60000"});
    StopWatch watch;
    auto rlock = line.hold(limit);
    REQUIRE(eventually([&] { return line.redis.listeners("redisson_lock__channel:{k}") == 1; }));
    line.proxy.refuse();
    line.proxy.hang_up();

    CHECK_MESSAGE(rlock.exit_code() == 69, rlock.err());
    CHECK(watch.elapsed() < promised(2300ms));
    CHECK_MESSAGE(contains(rlock.err(), "connection refused; "), rlock.err());
    CHECK_MESSAGE(contains(rlock.err(), "s ago 'k' was held by somebody:1"), rlock.err());
    CHECK_FALSE(contains(rlock.err(), "expires in"));
    report("busy, then refused, " + limit.back(), "nothing ran", 69, watch.elapsed());
  }
}

TEST_CASE("rlock gives up in time if its connection is never completed") {
  const BlackHole hole;
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "redis://127.0.0.1:" + std::to_string(hole.port());
  for (const Words& wait : {Words{"--wait", "2s"}, Words{"-n"}}) {
    StopWatch watch;
    Words words{"run", "-k", "k"};
    words.insert(words.end(), wait.begin(), wait.end());
    words.insert(words.end(), {"--", "true"});
    Rlock rlock{words, options};
    CHECK(rlock.exit_code() == 69);
    CHECK(watch.elapsed() < promised(3s));
    report("black hole, " + wait[0], "nothing ran", 69, watch.elapsed());
  }
}

TEST_CASE("a waiter that asks seldom knows at the end of its wait that the server has fallen silent") {
  FaultLine line;
  line.redis.cli({"HSET", "k", "other:1", "1"});
  line.redis.cli({"PEXPIRE", "k", "600000"});
  const auto length = [&] { return line.redis.cli({"ZCARD", "redisson_unlock_latch:{k}:line"}); };
  std::deque<Rlock> before;  // whoever is behind them asks every ten seconds
  for (std::size_t i = 1; i <= 4; ++i) {
    before.push_back(line.hold({"--wait", "60s"}));
    REQUIRE(eventually([&] { return length() == std::to_string(i); }));
  }
  auto last = line.hold({"--wait", "8s", "--command-timeout", "4s"});
  REQUIRE(eventually([&] { return length() == "5"; }));
  line.redis.freeze();

  CHECK_MESSAGE(last.exit_code() == 69, last.err());
  line.redis.thaw();
}

TEST_CASE("rlock gives up in time if the name server never answers") {
  // A resolver that receives questions and answers none, in a mount namespace of our own.
  const int silent = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x7f010203);
  address.sin_port = htons(53);
  const bool may_mount = Process{{"unshare", "-m", "true"}}.exit_code() == 0;
  if (!may_mount || ::bind(silent, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    ::close(silent);
    return skipped("needs a mount namespace and port 53 of 127.1.2.3");
  }
  TempDir folder;
  write_file(folder / "resolv.conf", "nameserver 127.1.2.3\n");
  auto options = Rlock::clean_environment();
  options.env["RLOCK_URL"] = "redis://redis.example:6379";
  for (const std::string wait : {"--wait 2s", "-n"}) {
    StopWatch watch;
    Process rlock{{"unshare", "-m", "sh", "-c",
                   "mount --bind " + (folder / "resolv.conf") + " /etc/resolv.conf && exec " +
                       rlock_binary() + " run -k k " + wait + " -- true"},
                  options};
    CHECK_MESSAGE(rlock.exit_code() == 69, rlock.err());
    CHECK(watch.elapsed() < promised(3s));
    report("silent name server, " + wait, "nothing ran", 69, watch.elapsed());
  }
  ::close(silent);
}
