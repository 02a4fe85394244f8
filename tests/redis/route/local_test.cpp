#include "redis/route/local.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "redis/connection/dial.h"
#include "redis/route/local_directory.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/skipped.h"
#include "support/state_home.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// True: within 10 s every process with the other end of the pipe has closed it.
bool ends(int pipe) {
  pollfd end{.fd = pipe, .events = POLLIN, .revents = 0};
  char ignored = 0;
  return ::poll(&end, 1, 10'000) == 1 && ::read(pipe, &ignored, 1) == 0;
}

}  // namespace

TEST_CASE("the first user starts the private server, the second one finds it") {
  const StateHome home;
  CHECK_FALSE(local_server().running);

  CHECK(ensure_local_server(soon()).path == home.socket());
  const LocalServer first = local_server();
  CHECK(first.running);
  CHECK(first.directory == home.directory());
  CHECK(first.pid == std::stoi(read_file(home.directory() + "/server.pid")));

  CHECK(ensure_local_server(soon()).path == home.socket());
  CHECK(local_server().pid == first.pid);
}

TEST_CASE("the private server has no TCP port, keeps everything and throws nothing away") {
  const StateHome home;
  ensure_local_server(soon());

  CHECK(home.ask({"CONFIG", "GET", "port"}) == "port\n0");
  CHECK(home.ask({"CONFIG", "GET", "tls-port"}) == "tls-port\n0");
  CHECK(home.ask({"CONFIG", "GET", "appendonly"}) == "appendonly\nyes");
  CHECK(home.ask({"CONFIG", "GET", "maxmemory-policy"}) == "maxmemory-policy\nnoeviction");
}

TEST_CASE("no other user may enter the folder, or connect") {
  const StateHome home;
  ensure_local_server(soon());

  struct stat facts{};
  REQUIRE(::stat(home.directory().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0700);
  REQUIRE(::stat(home.socket().c_str(), &facts) == 0);
  CHECK((facts.st_mode & 077) == 0);
  REQUIRE(::stat((home.directory() + "/appendonlydir").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 077) == 0);
}

TEST_CASE("many first users at once start one server") {
  const StateHome home;
  std::array<int, 2> answers{};
  REQUIRE(::pipe(answers.data()) == 0);
  constexpr int kUsers = 8;
  for (int user = 0; user < kUsers; ++user) {
    if (::fork() != 0) continue;
    pid_t server = 0;
    try {
      ensure_local_server(soon());
      server = local_server().pid;
    } catch (...) {}
    ::_exit(::write(answers[1], &server, sizeof server) == sizeof server ? 0 : 1);
  }
  ::close(answers[1]);

  std::vector<pid_t> servers(kUsers);
  for (pid_t& server : servers) REQUIRE(::read(answers[0], &server, sizeof server) == sizeof server);
  CHECK(servers == std::vector<pid_t>(kUsers, servers.front()));
  CHECK(servers.front() > 0);
  CHECK(ends(answers[0]));  // $(...) around the first user returns: the server does not hold its pipe
  ::close(answers[0]);
  for (int user = 0; user < kUsers; ++user) ::wait(nullptr);
}

TEST_CASE("a stopped server is gone, and the next one has its data") {
  const StateHome home;
  CHECK_FALSE(stop_local_server(soon()));
  ensure_local_server(soon());
  const pid_t first = local_server().pid;
  CHECK(home.ask({"SET", "k", "v"}) == "OK");

  CHECK(stop_local_server(soon()));
  CHECK(eventually([&] { return !alive(first); }));
  CHECK_FALSE(local_server().running);
  CHECK_FALSE(stop_local_server(soon()));

  ensure_local_server(soon());
  CHECK(local_server().pid != first);
  CHECK(home.ask({"GET", "k"}) == "v");
}

TEST_CASE("the socket of a killed server does not stop the next one from starting") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t first = local_server().pid;
  ::kill(first, SIGKILL);
  REQUIRE(eventually([] { return !local_server().running; }));  // the socket closes when the server's last
                                                                // thread has ended

  ensure_local_server(soon());
  CHECK(local_server().running);
  CHECK(local_server().pid != first);
}

TEST_CASE("a server without its socket file stops a second one from starting beside it") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t first = local_server().pid;
  ::unlink(home.socket().c_str());

  const std::string text = failure(Error::unreachable, [] { ensure_local_server(within(100ms)); });
  CHECK(contains(text, "a server runs in '" + home.directory() + "' but does not answer"));
  CHECK(contains(failure(Error::unreachable, [] { stop_local_server(within(100ms)); }), "does not answer"));
  CHECK(failure(Error::unreachable, [] { local_server(); }) == text);
  CHECK(alive(first));
}

TEST_CASE("a frozen server blocks neither a look for it nor its stop") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t server = local_server().pid;
  ::kill(server, SIGSTOP);

  const StopWatch watch;
  CHECK(ensure_local_server(soon()).path == home.socket());
  CHECK(contains(failure(Error::unreachable, [] { stop_local_server(within(300ms)); }), "does not answer"));
  CHECK(watch.elapsed() < 5s);
  ::kill(server, SIGCONT);
}

TEST_CASE("a server that ends at once is not waited for") {
  const StateHome home;
  const TempDir bin;
  write_file(bin / "redis-server", "#!/bin/sh\nexit 1\n");
  ::chmod((bin / "redis-server").c_str(), 0755);
  const Variable path{"PATH", bin.path()};

  const StopWatch watch;
  const std::string text = failure(Error::unreachable, [] { ensure_local_server(soon()); });
  CHECK(text == "local: the server ended at once; see '" + home.directory() + "/server.log'");
  CHECK(watch.elapsed() < 5s);
}

TEST_CASE("a folder that has the name of the server is passed over") {
  const StateHome home;
  const TempDir places;
  REQUIRE(::mkdir((places / "redis-server").c_str(), 0755) == 0);
  const Variable path{"PATH", places.path() + ":" + ::getenv("PATH")};
  CHECK(ensure_local_server(soon()).path == home.socket());
}

TEST_CASE("an interrupt ends the wait for a server that does not come up") {
  const StateHome home;
  const TempDir bin;
  write_file(bin / "redis-server",
             "#!/bin/sh\necho $$ > " + home.directory() + "/server.pid\nexec sleep 60\n");
  ::chmod((bin / "redis-server").c_str(), 0755);
  const Variable path{"PATH", bin.path() + ":" + ::getenv("PATH")};

  CHECK(contains(failure(Error::unreachable, [] { ensure_local_server(within(200ms)); }), "does not answer"));
  const Patience interrupted{.until = kNever, .interrupted = [] { return true; }};
  CHECK(ensure_local_server(interrupted).path == home.socket());
}

TEST_CASE("a signal ends the wait for a private server that does not come up, and us with it") {
  const StateHome home;
  const TempDir bin;
  write_file(bin / "redis-server",
             "#!/bin/sh\necho $$ > " + home.directory() + "/server.pid\nexec sleep 60\n");
  ::chmod((bin / "redis-server").c_str(), 0755);
  Process::Options options = Rlock::clean_environment();
  options.env["XDG_STATE_HOME"] = home.directory().substr(0, home.directory().rfind('/'));
  options.env["PATH"] = bin.path() + ":" + ::getenv("PATH");

  for (const Words& words :
       {Words{"run", "-u", "local:", "-k", "demo", "--", "true"}, Words{"inspect", "-u", "local:", "demo"},
        Words{"list", "-u", "local:"}, Words{"lock", "wait", "-u", "local:", "-k", "demo"},
        Words{"sem", "status", "-u", "local:", "-k", "demo"}}) {
    CAPTURE(words.front());
    Rlock waits{words, options};
    REQUIRE(eventually([&] { return !read_file(home.directory() + "/server.pid").empty(); }));
    // Before its exec the new process blocks all signals, too. Then it has another name.
    REQUIRE(eventually([&] {
      const std::string status = read_file("/proc/" + std::to_string(waits.pid()) + "/status");
      return contains(status, "Name:\trlock\n") && !contains(status, "SigBlk:\t0000000000000000");
    }));
    const StopWatch watch;
    waits.signal(SIGINT);

    CHECK(waits.exit_code() == 128 + SIGINT);
    CHECK(watch.elapsed() < 5s);  // a server may take ten
  }
}

TEST_CASE("rlock sends nothing to another user's server in the place of the private one") {
  if (::geteuid() != 0) return skipped("only root can be two users");
  const StateHome home;
  REQUIRE(LocalDirectory{}.create());
  const Descriptor theirs{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  home.socket().copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
  REQUIRE(::bind(theirs.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::seteuid(12345) == 0);
  const int listens = ::listen(theirs.number(), 8);
  REQUIRE(::seteuid(0) == 0);
  REQUIRE(listens == 0);

  CHECK(failure(Error::config, [] { ensure_local_server(soon()); }) ==
        "local: another user listens at '" + home.socket() + "'");
  const auto failure_of = [&](bool own) {
    return Dial{{.path = home.socket(), .own = own}, Clock::now(), plus(Clock::now(), 1000ms)}
        .failure()
        .value_or("none");
  };
  CHECK(failure_of(true) == "another user listens there");
  CHECK(failure_of(false) == "none");
}

TEST_CASE(
    "a command substitution around the first user of local: returns, and leaves a server for the next") {
  const StateHome home;
  const Words words{"sh", "-c", "x=$(\"$0\" run -q -u local: -k demo -- echo hello 2>&1); echo \"got $x\"",
                    rlock_binary()};
  Process::Options options = Rlock::clean_environment();
  options.env["XDG_STATE_HOME"] = home.directory().substr(0, home.directory().rfind('/'));

  Process first{words, options};
  CHECK(first.exit_code() == 0);
  CHECK(first.out() == "got hello\n");
  const pid_t server = local_server().pid;
  CHECK(server > 0);

  Process second{words, options};
  CHECK(second.exit_code() == 0);
  CHECK(local_server().pid == server);
}

TEST_CASE("a password meant for other servers does not reach the private one") {
  const StateHome home;
  Process::Options options = Rlock::clean_environment();
  options.env["XDG_STATE_HOME"] = home.directory().substr(0, home.directory().rfind('/'));
  options.env["REDISCLI_AUTH"] = "for-production";

  Rlock run{{"run", "-u", "local:", "-k", "demo", "--", "true"}, options};
  CHECK(run.exit_code() == 0);
}
