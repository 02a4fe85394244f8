#include "redis/route/local_directory.h"

#include <doctest/doctest.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <optional>
#include <string>

#include "redis/route/local.h"
#include "support/skipped.h"
#include "support/state_home.h"

using namespace rlock;
using namespace rlock::test;

// The folders in which the private server may live: only its user and root may be able to replace them.

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
  CHECK(refusal() == named + "is no folder");
  ::unlink(folder.c_str());

  const TempDir elsewhere;
  REQUIRE(::symlink(elsewhere.path().c_str(), folder.c_str()) == 0);
  CHECK(refusal() == named + "is a symbolic link; rlock needs a folder there");
  ::unlink(folder.c_str());

  if (::geteuid() != 0) return skipped("only root can give a folder away");
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
                             "' is writable for other users, who could replace its files; chmod go-w " +
                             above);
      CHECK(failure(Error::config, [] { local_server(); }) == refusal());
      CHECK(failure(Error::config, [] { stop_local_server(soon()); }) == refusal());
      CHECK(failure(Error::config, [] { ensure_local_server(soon()); }) == refusal());
    }
    for (const mode_t mode : {01777, 0755}) {
      ::chmod(above.c_str(), mode);
      CHECK(LocalDirectory{}.open());
    }
    if (::geteuid() != 0) {
      skipped("only root can give a folder away");
      continue;
    }
    REQUIRE(::chown(above.c_str(), 0, 12345) == 0);
    ::chmod(above.c_str(), 0775);
    CHECK(contains(refusal(), "is writable for other users"));
    ::chmod(above.c_str(), 0755);
    REQUIRE(::chown(above.c_str(), 12345, 0) == 0);
    CHECK(refusal() == "local: '" + above +
                           "' belongs to another user, who could replace its files; set XDG_STATE_HOME "
                           "to a place of your own");
    REQUIRE(::chown(above.c_str(), 0, 0) == 0);
  }
}

TEST_CASE("nothing is made in a folder where others could exchange it") {
  const TempDir dir;
  ::chmod(dir.path().c_str(), 0777);
  const Variable xdg{"XDG_STATE_HOME", dir / "a/b"};
  CHECK(contains(failure(Error::config, [] { ensure_local_server(soon()); }), "is writable for other users"));
  CHECK(::access((dir / "a").c_str(), F_OK) != 0);
}

TEST_CASE("the group that a user has for himself may write to the folders that lead to the private one") {
  const passwd* user = ::getpwuid(::geteuid());
  const group* own = user != nullptr ? ::getgrgid(user->pw_gid) : nullptr;
  if (own == nullptr || std::string{user->pw_name} != own->gr_name || *own->gr_mem != nullptr)
    return skipped("this user has no group for himself");
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
  CHECK(
      contains(failure(Error::config, [] { LocalDirectory{}.open(); }), "Too many levels of symbolic links"));
}

TEST_CASE("a folder with a path too long for its socket is refused, with the remedy") {
  const Variable variable{"XDG_STATE_HOME", "/tmp/" + std::string(100, 'x')};
  const std::string text = failure(Error::config, [] { ensure_local_server(soon()); });
  CHECK(contains(
      text, "is 122 bytes long, a Unix socket's path has at most 107; set XDG_STATE_HOME to a shorter path"));
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
