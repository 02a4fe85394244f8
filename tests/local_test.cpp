#include "redis/local.h"

#include <doctest/doctest.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "redis/dial.h"
#include "redis/local_directory.h"
#include "support/cli.h"
#include "support/eventually.h"
#include "support/process.h"
#include "support/resp_client.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// An environment variable as long as this lives.
class Variable {
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* now = ::getenv(name)) before_ = now;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) {
    value ? ::setenv(name_, value->c_str(), 1) : ::unsetenv(name_);
  }

  const char* name_;
  std::optional<std::string> before_;
};

/// A state home of this test alone. Its server ends with it, whatever the test did to it.
class StateHome {
 public:
  StateHome() { set_verbosity(Verbosity::quiet); }  // that a server is started is told
  ~StateHome() {
    set_verbosity(Verbosity::normal);
    const pid_t server = std::atoi(read_file(directory() + "/server.pid").c_str());
    if (server <= 0 || !alive(server)) return;
    ::kill(server, SIGKILL);
    eventually([&] { return !alive(server); });
  }

  std::string directory() const { return home_ / "rlock"; }
  std::string socket() const { return directory() + "/redis.sock"; }
  std::string ask(const Words& words) const { return RespClient{"unix:" + socket()}.ask(words); }

 private:
  TempDir home_;
  Variable variable_{"XDG_STATE_HOME", home_.path()};
};

Patience soon() { return within(10s); }

/// The text of the Error{kind} that `action` throws.
template <class Action>
std::string failure(Error::Kind kind, Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "went well";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Does everybody who holds the other end let go of it?
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

TEST_CASE("nobody else may enter the folder, nor connect") {
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

TEST_CASE("a server that is stopped is gone, and the next one knows what it knew") {
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

TEST_CASE("a server that was killed leaves a socket that keeps nobody from starting another one") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t first = local_server().pid;
  ::kill(first, SIGKILL);
  REQUIRE(eventually([] { return !local_server().running; }));  // its last thread closes the socket

  ensure_local_server(soon());
  CHECK(local_server().running);
  CHECK(local_server().pid != first);
}

TEST_CASE("a server whose socket was deleted keeps a second one from starting beside it") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t first = local_server().pid;
  ::unlink(home.socket().c_str());

  const std::string text = failure(Error::unreachable, [] { ensure_local_server(within(100ms)); });
  CHECK(has(text, "a server runs in '" + home.directory() + "' but does not answer"));
  CHECK(has(failure(Error::unreachable, [] { stop_local_server(within(100ms)); }), "does not answer"));
  CHECK(alive(first));
}

TEST_CASE("a frozen server does not hang whoever looks for it or stops it") {
  const StateHome home;
  ensure_local_server(soon());
  const pid_t server = local_server().pid;
  ::kill(server, SIGSTOP);

  const StopWatch watch;
  CHECK(ensure_local_server(soon()).path == home.socket());
  CHECK(has(failure(Error::unreachable, [] { stop_local_server(within(300ms)); }), "does not answer"));
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

TEST_CASE("whoever loses patience stops waiting for a server that does not come up") {
  const StateHome home;
  const TempDir bin;
  write_file(bin / "redis-server",
             "#!/bin/sh\necho $$ > " + home.directory() + "/server.pid\nexec sleep 60\n");
  ::chmod((bin / "redis-server").c_str(), 0755);
  const Variable path{"PATH", bin.path() + ":" + ::getenv("PATH")};

  CHECK(has(failure(Error::unreachable, [] { ensure_local_server(within(200ms)); }), "does not answer"));
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
       {Words{"run", "-u", "local:", "-k", "demo", "--", "true"}, Words{"inspect", "-u", "local:", "demo"}}) {
    Rlock waits{words, options};
    REQUIRE(eventually([&] { return !read_file(home.directory() + "/server.pid").empty(); }));
    const std::string status = "/proc/" + std::to_string(waits.pid()) + "/status";
    REQUIRE(
        eventually([&] { return read_file(status).find("SigBlk:\t0000000000000000") == std::string::npos; }));
    const StopWatch watch;
    waits.signal(SIGINT);

    CHECK(waits.exit_code() == 128 + SIGINT);
    CHECK(watch.elapsed() < 5s);  // of the ten that a server may take
  }
}

TEST_CASE("a folder that is not safe is refused, not repaired") {
  const StateHome home;
  const auto refusal = [] {
    const std::string text = failure(Error::config, [] { ensure_local_server(soon()); });
    CHECK(failure(Error::config, [] { local_server(); }) == text);
    CHECK(failure(Error::config, [] { stop_local_server(soon()); }) == text);
    return text;
  };
  const std::string folder = home.directory();
  const std::string named = "local: '" + folder + "' ";

  ::mkdir(folder.c_str(), 0755);
  CHECK(refusal() == named + "can be entered by others; chmod 700 " + folder);
  ::rmdir(folder.c_str());

  write_file(folder, "");
  CHECK(refusal() == named + "is not a folder, or a symbolic link to one");
  ::unlink(folder.c_str());

  const TempDir elsewhere;
  REQUIRE(::symlink(elsewhere.path().c_str(), folder.c_str()) == 0);
  CHECK(refusal() == named + "is not a folder, or a symbolic link to one");
  ::unlink(folder.c_str());

  if (::geteuid() != 0) return;  // only root can give a folder away
  ::mkdir(folder.c_str(), 0700);
  REQUIRE(::chown(folder.c_str(), 12345, 12345) == 0);
  CHECK(refusal() == named + "belongs to another user; set XDG_STATE_HOME to a place of your own");
}

TEST_CASE("a folder is refused when others could exchange it, or one that leads to it") {
  const StateHome home;
  const std::string above = home.directory().substr(0, home.directory().rfind('/'));
  for (const std::string& deeper : {std::string{}, std::string{"/a"}, std::string{"/a/b"}}) {
    const Variable variable{"XDG_STATE_HOME", above + deeper};
    REQUIRE(LocalDirectory{}.create());
    const auto refusal = [] { return failure(Error::config, [] { LocalDirectory{}.open(); }); };

    for (const mode_t mode : {0777, 0757}) {
      ::chmod(above.c_str(), mode);
      CHECK(refusal() == "local: '" + above +
                             "' can be written to by others, who could exchange what is in it; chmod go-w " +
                             above);
      CHECK(failure(Error::config, [] { local_server(); }) == refusal());
      CHECK(failure(Error::config, [] { stop_local_server(soon()); }) == refusal());
      CHECK(failure(Error::config, [] { ensure_local_server(soon()); }) == refusal());
    }
    for (const mode_t mode : {01777, 0755}) {
      ::chmod(above.c_str(), mode);
      CHECK(LocalDirectory{}.open());
    }
    if (::geteuid() != 0) continue;  // only root can give a folder away
    REQUIRE(::chown(above.c_str(), 0, 12345) == 0);
    ::chmod(above.c_str(), 0775);
    CHECK(has(refusal(), "can be written to by others"));
    ::chmod(above.c_str(), 0755);
    REQUIRE(::chown(above.c_str(), 12345, 0) == 0);
    CHECK(refusal() == "local: '" + above +
                           "' belongs to another user, who could exchange what is in it; set XDG_STATE_HOME "
                           "to a place of your own");
    REQUIRE(::chown(above.c_str(), 0, 0) == 0);
  }
}

TEST_CASE("nothing is made in a folder where others could exchange it") {
  const TempDir dir;
  ::chmod(dir.path().c_str(), 0777);
  const Variable xdg{"XDG_STATE_HOME", dir / "a/b"};
  CHECK(has(failure(Error::config, [] { ensure_local_server(soon()); }), "can be written to by others"));
  CHECK(::access((dir / "a").c_str(), F_OK) != 0);
}

TEST_CASE("the group that a user has for himself may write to the folders that lead to the private one") {
  const passwd* user = ::getpwuid(::geteuid());
  const group* own = user != nullptr ? ::getgrgid(user->pw_gid) : nullptr;
  if (own == nullptr || std::string{user->pw_name} != own->gr_name || *own->gr_mem != nullptr) return;
  const TempDir dir;
  REQUIRE(::chown(dir.path().c_str(), ::geteuid(), own->gr_gid) == 0);
  ::chmod(dir.path().c_str(), 0775);
  const Variable xdg{"XDG_STATE_HOME", dir.path()};
  CHECK(LocalDirectory{}.create());
}

TEST_CASE("links that lead to the private folder are followed when they are ours, and only a few") {
  const TempDir dir;
  REQUIRE(::mkdir((dir / "real").c_str(), 0700) == 0);
  REQUIRE(::symlink("real", (dir / "relative").c_str()) == 0);
  REQUIRE(::symlink((dir / "relative/../relative").c_str(), (dir / "absolute").c_str()) == 0);
  REQUIRE(::symlink("round", (dir / "round").c_str()) == 0);
  {
    const Variable xdg{"XDG_STATE_HOME", dir / "absolute"};
    CHECK(LocalDirectory{}.create());
    CHECK(::access((dir / "real/rlock").c_str(), F_OK) == 0);
    if (::geteuid() == 0) {
      REQUIRE(::lchown((dir / "relative").c_str(), 12345, 12345) == 0);
      CHECK(failure(Error::config, [] { LocalDirectory{}.open(); }) ==
            "local: '" + (dir / "relative") + "' is a symbolic link of another user");
    }
  }
  const Variable xdg{"XDG_STATE_HOME", dir / "round"};
  CHECK(has(failure(Error::config, [] { LocalDirectory{}.open(); }), "Too many levels of symbolic links"));
}

TEST_CASE("a server of another user at the place of the private one is asked for nothing") {
  if (::geteuid() != 0) return;  // only root can be two users
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
    return Dial{{.path = home.socket(), .own = own}, later(Clock::now(), 1000ms)}.failure().value_or("none");
  };
  CHECK(failure_of(true) == "another user listens there");
  CHECK(failure_of(false) == "none");
}

TEST_CASE("a folder whose socket's path would be too long is refused, with the remedy") {
  const Variable variable{"XDG_STATE_HOME", "/tmp/" + std::string(100, 'x')};
  const std::string text = failure(Error::config, [] { ensure_local_server(soon()); });
  CHECK(has(text,
            "is 122 bytes long, a Unix socket's path has at most 107; set XDG_STATE_HOME to a shorter path"));
}

TEST_CASE("the folder is the same for a login and for cron") {
  {
    const Variable xdg{"XDG_STATE_HOME", "/state"};
    CHECK(LocalDirectory{}.path() == "/state/rlock");
  }
  const Variable xdg{"XDG_STATE_HOME", "relative/means/nothing"};
  {
    const Variable home{"HOME", "/home/somebody"};
    CHECK(LocalDirectory{}.path() == "/home/somebody/.local/state/rlock");
  }
  const Variable home{"HOME", std::nullopt};
  CHECK(LocalDirectory{}.path() == std::string{::getpwuid(::geteuid())->pw_dir} + "/.local/state/rlock");
}

TEST_CASE("folders above the private one are made when they are missing") {
  const TempDir dir;
  const Variable xdg{"XDG_STATE_HOME", dir / "a/b"};
  CHECK(LocalDirectory{}.create());

  struct stat facts{};
  REQUIRE(::stat((dir / "a").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0700);
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
