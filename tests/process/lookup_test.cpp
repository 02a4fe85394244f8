#include "process/lookup.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "redis/connection/dial.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/skipped.h"
#include "support/sockets.h"
#include "support/unloaded_watch.h"

using namespace rlock;
using namespace rlock::test;

namespace {

bool answers(Lookup& lookup, Milliseconds patience = Milliseconds{5000}) {
  return eventually(
      [&] {
        pollfd waiting{lookup.fd(), POLLIN, 0};
        if (::poll(&waiting, 1, 0) > 0) lookup.ready();
        return lookup.found() || lookup.failure();
      },
      patience);
}

/// True: the dial has connected or failed.
bool ends(Dial& dial) {
  return eventually([&] {
    pollfd waiting{dial.fd(), dial.interest(), 0};
    ::poll(&waiting, 1, 0);
    dial.ready(waiting.revents, Clock::now());
    return dial.connected() || dial.failure();
  });
}

Lookup::Resolver finds(std::vector<std::string> addresses) {
  return [=](const std::string&) { return addresses; };
}

TimePoint soon() { return plus(Clock::now(), Milliseconds{300}); }

}  // namespace

TEST_CASE("a name is looked up in another process") {
  Lookup lookup{"db", [](const std::string& host) {
                  return std::vector<std::string>{host, std::to_string(::getpid()), "::1"};
                }};
  REQUIRE(answers(lookup));
  REQUIRE(lookup.found().has_value());
  CHECK(lookup.found()->at(0) == "db");
  CHECK(lookup.found()->at(1) != std::to_string(::getpid()));
  CHECK(lookup.found()->at(2) == "::1");
}

TEST_CASE("an answer that is too long loses whole addresses, and no part of one is an address") {
  std::vector<std::string> all;
  for (int host = 100; host < 500; ++host) all.push_back("127.200.10." + std::to_string(host));
  for (int longer = 0; longer < 15; ++longer) {  // each byte of an address is once the last that fits
    all.front() += '1';
    Lookup lookup{"db", finds(all)};
    REQUIRE(answers(lookup));
    REQUIRE(lookup.found());
    const auto& found = *lookup.found();
    REQUIRE(found.size() > 200);
    REQUIRE(found.size() < all.size());
    CHECK(std::equal(found.begin(), found.end(), all.begin()));
  }
}

TEST_CASE("the system's resolver knows this machine and says why it does not know another") {
  CHECK_THROWS_WITH(Lookup::system_resolver(""), "name or service not known");
  if (Process{{"getent", "ahosts", "localhost"}}.exit_code() != 0)
    return skipped("this machine does not know localhost");
  Lookup here{"localhost"};
  REQUIRE(answers(here));
  REQUIRE(here.found().has_value());
  CHECK_FALSE(here.found()->empty());
}

TEST_CASE("a resolver that fails, dies or finds nothing is a failure with a reason") {
  Lookup failed{
      "db", [](const std::string&) -> std::vector<std::string> { throw std::runtime_error{"no such name"}; }};
  REQUIRE(answers(failed));
  CHECK(*failed.failure() == "no such name");

  Lookup died{"db", [](const std::string&) -> std::vector<std::string> { ::_exit(3); }};
  REQUIRE(answers(died));
  CHECK(*died.failure() == "the look-up found nothing");

  Lookup empty{"db", finds({})};
  REQUIRE(answers(empty));
  CHECK(*empty.failure() == "the look-up found nothing");
}

TEST_CASE("a helper that is not needed any more is gone, however busy it was") {
  TempDir directory;
  const std::string file = directory / "pid";
  pid_t helper = 0;
  {
    Lookup stuck{"db", [&](const std::string&) -> std::vector<std::string> {
                   write_file(file, std::to_string(::getpid()) + "\n");
                   for (;;) ::pause();
                 }};
    REQUIRE(eventually([&] { return read_file(file).ends_with('\n'); }));
    helper = std::stoi(read_file(file));
    CHECK_FALSE(answers(stuck, Milliseconds{20}));
    CHECK(state_of(helper) == 'S');
  }
  CHECK(eventually([&] {
    Lookup next{"db", finds({"::1"})};  // reaps the helpers of earlier lookups
    return state_of(helper) == 0;
  }));
}

TEST_CASE("the addresses of a name are tried in turn until one is there") {
  const auto listener = listen_on_loopback();
  Dial dial{{.host = "db", .port = listener.port},
            Clock::now(),
            soon(),
            finds({"junk", "127.0.0.3", "::1", "127.0.0.2", "127.0.0.1"})};
  CHECK(ends(dial));
  CHECK(dial.connected());
  CHECK(dial.take().number() >= 0);
  ::close(listener.fd);
}

TEST_CASE("addresses that are silent get a share of the time, and the last one still has one") {
  BlackHole hole;
  const auto listener = listen_on_loopback();
  std::vector<std::string> addresses(9, "192.0.2.1");  // TEST-NET: no host has this address
  addresses.push_back("127.0.0.1");
  Dial dial{{.host = "db", .port = listener.port},
            Clock::now(),
            plus(Clock::now(), Milliseconds{1000}),
            finds(addresses)};
  CHECK(ends(dial));
  CHECK(dial.connected());
  ::close(listener.fd);
}

TEST_CASE("if no address answers, the first address's reason is reported") {
  const auto listener = listen_on_loopback();
  ::close(listener.fd);
  Dial dial{{.host = "db", .port = listener.port},
            Clock::now(),
            soon(),
            finds({"127.0.0.1", "127.0.0.2", "127.0.0.3"})};
  REQUIRE(ends(dial));
  CHECK(*dial.failure() == "connection refused (2 other addresses failed too)");
}

TEST_CASE("a name server that never answers costs no more than the time limit") {
  const UnloadedWatch watch{{::getpid()}};
  Dial dial{
      {.host = "db", .port = 1}, Clock::now(), plus(Clock::now(), Milliseconds{100}), [](const std::string&) {
        for (;;) ::pause();
        return std::vector<std::string>{};
      }};
  REQUIRE(ends(dial));
  CHECK(*dial.failure() == "cannot look up 'db': no answer in time");
  CHECK(watch.elapsed() < 400ms);
}

TEST_CASE("IP addresses and localhost are not looked up") {
  const auto listener = listen_on_loopback();
  const Lookup::Resolver nobody = [](const std::string&) { return std::vector<std::string>{"192.0.2.1"}; };
  for (const char* host : {"127.0.0.1", "localhost"}) {
    Dial dial{{.host = host, .port = listener.port}, Clock::now(), soon(), nobody};
    CHECK(ends(dial));
    CHECK(dial.connected());
  }
  ::close(listener.fd);
}

TEST_CASE("an answer of the resolver that is no address is not used") {
  Dial dial{{.host = "db", .port = 1}, Clock::now(), soon(), finds({"\x1b[31m", "300.1.1.1"})};
  REQUIRE(ends(dial));
  CHECK(*dial.failure() == "no answer to the connection attempt");
}
