#include "redis/connection/target.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/error.h"
#include "redis/connection/password.h"
#include "support/contains.h"
#include "support/dice.h"
#include "support/process.h"
#include "support/profile.h"

using namespace rlock;
using namespace rlock::test;

namespace {

std::string refusal(std::string_view url) {
  try {
    return "read as " + parse_target(url).str();
  } catch (const Error& error) {
    CHECK(error.kind() == Error::usage);
    return error.what();
  }
}

}  // namespace

TEST_CASE("a server is a host, a port and a database") {
  const Target plain = parse_target("redis://db.example");
  CHECK(plain.topology == Target::Topology::single);
  CHECK(plain.addresses == std::vector<Address>{{.host = "db.example", .port = 6379}});
  CHECK(plain.db == 0);
  CHECK(plain.user.empty());
  CHECK(plain.password.empty());
  CHECK_FALSE(plain.tls.on);

  const Target full = parse_target("rediss://deploy:secret@10.0.0.7:6380/15");
  CHECK(full.addresses == std::vector<Address>{{.host = "10.0.0.7", .port = 6380}});
  CHECK(full.db == 15);
  CHECK(full.user == "deploy");
  CHECK(full.password.read() == "secret");
  CHECK(full.tls.on);

  CHECK(parse_target("valkey://h/").db == 0);
  CHECK_FALSE(parse_target("valkey://h").tls.on);
  CHECK(parse_target("valkeys://h").tls.on);
}

TEST_CASE("user and password are the texts before and behind the first colon") {
  struct Row {
    const char* url;
    std::string user;
    std::optional<std::string> password;
  };
  const std::vector<Row> table{
      {"redis://:pw@h", "", "pw"},
      {"redis://user@h", "user", std::nullopt},
      {"redis://user:@h", "user", ""},
      {"redis://@h", "", std::nullopt},
      {"redis://user:a:b@h", "user", "a:b"},
      {"redis://user:a@b@h", "user", "a@b"},
      {"redis://user:p%40ss%2Fw%3Ard%25@h", "user", "p@ss/w:rd%"},
      {"redis://user:%2525@h", "user", "%25"},  // decoded only once
      {"redis://user:a+b@h", "user", "a+b"},    // '+' is no blank
      {"redis://us%3Aer:pw@h", "us:er", "pw"},
      {"unix://user:pw@/run/redis.sock", "user", "pw"},
      {"redis+sentinel://user:pw@a,b/m", "user", "pw"},
  };
  for (const Row& row : table) {
    CAPTURE(row.url);
    const Target target = parse_target(row.url);
    CHECK(target.user == row.user);
    CHECK(target.password.read() == row.password);
    CHECK(target.password.empty() == !row.password);
  }
}

TEST_CASE("an IPv6 address stands in brackets, its zone behind %25") {
  CHECK(parse_target("redis://[::1]").addresses.front() == Address{.host = "::1", .port = 6379});
  CHECK(parse_target("redis://[::1]:7000").addresses.front() == Address{.host = "::1", .port = 7000});
  CHECK(parse_target("redis://[fe80::1%25eth0]:7000").addresses.front().host == "fe80::1%eth0");
  CHECK(parse_target("redis://[fe80::1%25eth0]:7000/1").str() == "redis://[fe80::1%25eth0]:7000/1");
  CHECK(Address{.host = "::1", .port = 7000}.str() == "[::1]:7000");
}

TEST_CASE("a Unix socket is an absolute path of at most 107 bytes") {
  const Target target = parse_target("unix:///run/redis/redis.sock?db=2");
  CHECK(target.addresses == std::vector<Address>{{.path = "/run/redis/redis.sock"}});
  CHECK(target.db == 2);
  CHECK(parse_target("unix:/run/redis.sock").str() == "unix:///run/redis.sock");
  CHECK(parse_target("redis+unix:/p?db=3").db == 3);
  CHECK(parse_target("redis+unix:///run/a%20b.sock").addresses.front().path == "/run/a b.sock");
  CHECK(Address{.path = "/run/redis.sock"}.str() == "/run/redis.sock");

  CHECK(parse_target("unix:///" + std::string(106, 'x')).addresses.front().path.size() == 107);
  CHECK(contains(refusal("unix:///" + std::string(107, 'x')),
                 "has a path of 108 bytes; a Unix socket's path has at most 107"));
  CHECK(contains(refusal("unix://run/redis.sock"), "needs an absolute path"));
}

TEST_CASE("Sentinel and Cluster take several hosts, each with a port of its own") {
  const Target sentinel = parse_target("redis+sentinel://a,b:7000,[::1]/my%2Fmaster/3");
  CHECK(sentinel.topology == Target::Topology::sentinel);
  CHECK(sentinel.addresses == std::vector<Address>{{.host = "a", .port = 26379},
                                                   {.host = "b", .port = 7000},
                                                   {.host = "::1", .port = 26379}});
  CHECK(sentinel.master == "my/master");
  CHECK(sentinel.db == 3);
  CHECK(parse_target("rediss+sentinel://a/m").tls.on);

  const Target cluster = parse_target("rediss+cluster://:pw@a,b:7000");
  CHECK(cluster.topology == Target::Topology::cluster);
  CHECK(cluster.addresses == std::vector<Address>{{.host = "a", .port = 6379}, {.host = "b", .port = 7000}});
  CHECK(cluster.tls.on);
}

TEST_CASE("local: is a word of its own") {
  CHECK(parse_target("local:").topology == Target::Topology::local);
  CHECK(parse_target("local:").str() == "local:");
  CHECK(contains(refusal("local:x"), "'local:' takes nothing behind it"));
  CHECK(contains(refusal("local://"), "'local:' takes nothing behind it"));
  CHECK(refusal("local") == "not a URL; did you mean 'local:'?");
}

TEST_CASE(
    "the message about a host or path without a scheme shows the form that was meant, and does not repeat the text") {
  for (const char* host : {"", "db1", "db1:6379", "db.example:7000", "10.0.0.7", "[::1]:6379", "redis:6379",
                           "redis:/db1", "redis:db1", "u:CANARY@db1", "local/x"}) {
    CAPTURE(host);
    CHECK(refusal(host) == "not a URL; did you mean redis://host:port?");
  }
  for (const char* path : {"/p", "/run/redis/redis.sock", "./redis.sock", "../run/x", "~/redis.sock"}) {
    CAPTURE(path);
    CHECK(refusal(path) == "not a URL; did you mean unix:///path?");
  }
  CHECK(refusal("http://u:CANARY@db1") ==
        "not a URL that rlock knows; it begins with redis://, rediss://, valkey://, unix://, "
        "redis+sentinel:// or redis+cluster://, or is local: (see URLS in rlock(1))");
}

TEST_CASE("a text that is no URL is refused, and an unknown scheme lists the known ones") {
  for (const char* url : {"http://h", "REDIS://h", " redis://h", "redis ://h", "://h", "redis+tls://h"}) {
    CAPTURE(url);
    CHECK(contains(refusal(url), "begins with redis://, rediss://, "));
  }
  for (const char* url : {"redis:", "redis//h", "rediss//h", "u:CANARY"}) {
    CAPTURE(url);
    CHECK(refusal(url) == "not a URL; did you mean redis://host:port?");
  }
}

TEST_CASE("junk in a URL is refused, wherever it stands") {
  for (const char* url : {"redis://",
                          "redis:///0",
                          "redis://@",
                          "redis://:6379",
                          "redis://h:",
                          "redis://h:0",
                          "redis://h:65536",
                          "redis://h:6379x",
                          "redis://h:-1",
                          "redis://h:+1",
                          "redis://h:99999999999999999999",
                          "redis://::1:6379",
                          "redis://[::1",
                          "redis://[::1]6379",
                          "redis://[]",
                          "redis://[h]",
                          "redis://[::1%25]",
                          "redis://[::1%25a/b]",
                          "redis://[1.2.3.4]",
                          "redis://h/x",
                          "redis://h/0/1",
                          "redis://h/0/",
                          "redis://h/-1",
                          "redis://h/2147483648",
                          "redis://h//",
                          "redis://h?",
                          "redis://h?tls=true",
                          "redis://h/1?db=1",
                          "redis://h#x",
                          "redis://h x",
                          "redis://a,b",
                          "redis://h\n",
                          "redis://h\x7f",
                          "redis://h%41",
                          "redis://u:%zz@h",
                          "redis://u:%4@h",
                          "redis://u:%@h",
                          "redis://u:%00@h",
                          "redis://h\xc3\xbc",
                          "redis://u:p/w@h",
                          "redis://u:p?w@h",
                          "redis://u:p#w@h",
                          "unix:",
                          "unix:p",
                          "unix:/",
                          "redis:/p",
                          "unix://",
                          "unix:///",
                          "unix:///run/",
                          "unix://h/run/x",
                          "unix:///x?",
                          "unix:///x?foo=1",
                          "unix:///x?db=",
                          "unix:///x?db=x",
                          "unix:///x?db=1&db=2",
                          "unix:///x?db=1&",
                          "unix:///x?DB=1",
                          "unix:///%00",
                          "redis+sentinel://a",
                          "redis+sentinel://a/",
                          "redis+sentinel://a/m/x",
                          "redis+sentinel://a/m/",
                          "redis+sentinel://a,/m",
                          "redis+sentinel:///m",
                          "redis+sentinel://a,,b/m",
                          "redis+sentinel://a/m/1/2",
                          "redis+sentinel://a?m",
                          "redis+cluster://a/0",
                          "redis+cluster://a/1",
                          "redis+cluster://a,",
                          "redis+cluster://"}) {
    CAPTURE(url);
    CHECK_FALSE(contains(refusal(url), "read as"));
  }
  CHECK_FALSE(contains(refusal(std::string_view{"redis://h\0x", 11}), "read as"));
  CHECK_FALSE(contains(refusal("redis://" + std::string(256, 'h')), "read as"));
}

TEST_CASE("a target prints without its secrets, and reads back as the same place") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"redis://h", "redis://h:6379"},
      {"redis://:secret@h/2", "redis://***@h:6379/2"},
      {"rediss://user:secret@h:1", "rediss://***@h:1"},
      {"redis://user@h", "redis://***@h:6379"},
      {"redis+unix://:secret@/run/a%20b.sock?db=1", "unix://***@/run/a%20b.sock?db=1"},
      {"redis+sentinel://u:secret@a,b:1/m/3", "redis+sentinel://***@a:26379,b:1/m/3"},
      {"redis+cluster://:secret@a,b", "redis+cluster://***@a:6379,b:6379"},
  };
  for (const auto& [url, printed] : table) {
    CAPTURE(url);
    CHECK(parse_target(url).str() == printed);
    CHECK(parse_target(printed).str() == printed);
    CHECK(parse_target(printed).addresses == parse_target(url).addresses);
  }
}

TEST_CASE("a nested rlock gets the user, the address and TLS, but no password") {
  CHECK(parse_target("redis://us%3Aer:secret@h/2").url() == "redis://us%3aer@h:6379/2");
  CHECK(parse_target("redis://:secret@h").url() == "redis://h:6379");

  Target target = parse_target("redis+sentinel://u:secret@a/m");
  target.tls.on = true;  // as the option --tls does
  CHECK(target.url() == "rediss+sentinel://u@a:26379/m");
  target = parse_target("valkey://h");
  target.tls.on = true;
  CHECK(target.url() == "valkeys://h:6379");
}

TEST_CASE("a password appears in no text, however the URL around it is mangled") {
  const std::string canary = "c4nary";
  const std::vector<std::string> urls{
      "redis://:c4nary@h:6379/0",         "redis://user:c4nary@h",
      "rediss://user:c4nary@[::1]:7/1",   "unix://user:c4nary@/run/x?db=1",
      "redis+sentinel://:c4nary@a,b/m/1", "redis+cluster://user:c4nary@a:1,b:2",
  };
  Dice dice{20240610};
  int refused = 0;
  const int rounds = long_profile() ? 50000 : 5000;
  for (int round = 0; round < rounds; ++round) {
    std::string url = dice.pick(urls);
    for (std::size_t changes = dice.below(4); changes > 0; --changes) {
      const std::size_t at = dice.below(url.size());
      const std::string some = dice.coin() ? dice.text("/@:?#%[],.=&+ 0\n", 3) : dice.bytes(2);
      dice.coin() ? url.replace(at, dice.below(2), some) : url.insert(at, some);
    }
    std::string text;
    try {
      const Target target = parse_target(url);
      const bool became_place = contains(target.addresses.front().str() + target.master, canary);
      const bool became_user = target.user != "user" && !target.user.empty();
      if (!became_place) text += target.str();
      if (!became_place && !became_user) text += target.url();
    } catch (const Error& error) {
      text = error.what();
      ++refused;
    }
    CAPTURE(url);
    CHECK_FALSE(contains(text, canary));
  }
  CHECK(refused > rounds / 5);  // not all of them
  CHECK(refused < rounds * 9 / 10);
}

TEST_CASE("a target that is printed and parsed again is the same place") {
  const std::vector<std::string> schemes{"redis",          "rediss",        "valkey",        "valkeys",
                                         "redis+sentinel", "redis+cluster", "rediss+cluster"};
  const std::vector<std::string> hosts{"h", "db-1.example", "10.0.0.7", "[::1]", "[fe80::1%25eth0]", "a_b"};
  Dice dice{20240611};
  const int rounds = long_profile() ? 5000 : 500;
  for (int round = 0; round < rounds; ++round) {
    const std::string& scheme = dice.pick(schemes);
    const bool several = contains(scheme, "sentinel") || contains(scheme, "cluster");
    std::string url = scheme + "://";
    if (dice.coin()) url += "u:" + dice.text("xyz:@+", 6) + "@";
    for (std::size_t count = several ? 1 + dice.below(3) : 1; count > 0; --count) {
      url += dice.pick(hosts) + (dice.coin() ? ":" + std::to_string(1 + dice.below(65535)) : "") +
             (count > 1 ? "," : "");
    }
    if (contains(scheme, "sentinel")) url += "/ma%2Fster" + std::string{dice.coin() ? "/3" : ""};
    if (!several && dice.coin()) url += "/" + std::to_string(dice.below(16));

    CAPTURE(url);
    const Target target = parse_target(url);
    for (const std::string& text : {target.str(), target.url()}) {
      const Target again = parse_target(text);
      CHECK(again.addresses == target.addresses);
      CHECK(again.master == target.master);
      CHECK(again.db == target.db);
      CHECK(again.topology == target.topology);
      CHECK(again.tls.on == target.tls.on);
    }
    CHECK(parse_target(target.str()).str() == target.str());
    CHECK(parse_target(target.url()).user == target.user);
  }
}

TEST_CASE("a password file is read each time, without its last newline") {
  const TempDir dir;
  const std::string path = dir / "password";
  const PasswordSource source = PasswordSource::file(path);
  CHECK(source.path() == path);
  CHECK_FALSE(source.empty());

  for (const auto& [content, password] : std::vector<std::pair<std::string, std::string>>{
           {"secret\n", "secret"}, {"rotated", "rotated"}, {" blanks stay \n", " blanks stay "}}) {
    write_file(path, content);
    CHECK(source.read() == password);
  }
}

TEST_CASE("a password file that cannot be right is a configuration error that names the file") {
  const TempDir dir;
  const auto complaint = [](const std::string& path) -> std::string {
    try {
      PasswordSource::file(path).read();
    } catch (const Error& error) {
      CHECK(error.kind() == Error::config);
      return error.what();
    }
    return "read";
  };
  const std::string path = dir / "password";
  CHECK(complaint(path) == "password file '" + path + "' (--password-file): No such file or directory");
  for (const auto& [content, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "is empty"},
           {"\n", "is empty"},
           {"s3cret\nsecond\n", "has more than one line"},
           {"secret\n\n", "has more than one line"},
           {"\r\n", "is empty"},
           {"secret\r\n\r\n", "has more than one line"},
           {"\xef\xbb\xbfsecret\n", "begins with a byte order mark; save it as UTF-8 without one"},
           {std::string("\xff\xfes\0", 4), "begins with a byte order mark; save it as UTF-8 without one"},
           {std::string("s\0", 2), "contains a NUL byte; save it as UTF-8"},
           {std::string(5000, 'x'), "is too long for a password"}}) {
    write_file(path, content);
    CHECK(complaint(path) == "password file '" + path + "' (--password-file): " + why);
  }
  CHECK(complaint(dir.path()) == "password file '" + dir.path() + "' (--password-file): Is a directory");

  const std::string pipe = dir / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(
      complaint(pipe) ==  // reading a pipe without a writer does not hang
      "password file '" + pipe +
          "' (--password-file): did not end in time; the process at its other end must write the password and "
          "close it");
}

namespace {

/// A pipe as a shell makes it for `--password-file <(pass redis)`.
struct PasswordPipe : Pipe {
  PasswordSource source() const {
    return PasswordSource::file("/dev/fd/" + std::to_string(reading.number()));
  }
  void write(const std::string& text) const {
    REQUIRE(::write(writing.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
};

std::string failure_reading(const PasswordSource& source) {
  try {
    return "read " + source.read().value_or("nothing");
  } catch (const Error& error) {
    CHECK(error.kind() == Error::config);
    return error.what();
  }
}

const std::string kSilent =
    "did not end in time; the process at its other end must write the password and close it";

}  // namespace

TEST_CASE("a pipe with a password is read when its writer has closed it, once for all copies") {
  PasswordPipe pipe;
  const PasswordSource source = pipe.source(), copy = source;
  pipe.write("s3cr");
  int looks = 0;
  source.await({.until = kNever, .interrupted = [&] {
                  if (++looks < 3) return false;
                  if (looks == 3) pipe.write("et\n");
                  pipe.writing.reset();
                  return false;
                }});
  CHECK(looks >= 3);
  CHECK(source.read() == "s3cret");
  CHECK(copy.read() == "s3cret");
}

TEST_CASE("a named pipe is awaited, also before its writer has opened it") {
  TempDir folder;
  const std::string path = folder / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const PasswordSource source = PasswordSource::file(path);
  int looks = 0;
  source.await({.until = kNever, .interrupted = [&] {
                  if (++looks != 2) return false;
                  const Descriptor writing{::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)};
                  REQUIRE(::write(writing.number(), "s3cret\n", 7) == 7);
                  return false;
                }});
  CHECK(looks == 2);
  CHECK(source.read() == "s3cret");
}

TEST_CASE("a pipe that was read already is empty, and the message names this reason") {
  PasswordPipe pipe;
  pipe.writing.reset();
  const PasswordSource source = pipe.source();
  source.await(within(Milliseconds{50}));
  CHECK_MESSAGE(
      contains(failure_reading(source),
               "is empty; a pipe can be read only once, and another rlock may have read it: use a regular "
               "file or RLOCK_PASSWORD"),
      failure_reading(source));
}

TEST_CASE("a pipe whose writer is silent does not delay its reader longer than its patience") {
  const PasswordPipe pipe;
  const TimePoint started = Clock::now();
  SUBCASE("its time is over") {
    const PasswordSource source = pipe.source();
    source.await(within(Milliseconds{50}));
    CHECK(Clock::now() - started >= Milliseconds{50});
    CHECK_MESSAGE(failure_reading(source).ends_with(kSilent), failure_reading(source));
  }
  SUBCASE("it is interrupted") {
    const PasswordSource source = pipe.source();
    source.await({.until = kNever, .interrupted = [] { return true; }});
    CHECK_MESSAGE(failure_reading(source).ends_with(kSilent), failure_reading(source));
  }
  SUBCASE("nobody waits for it") {
    CHECK_MESSAGE(failure_reading(pipe.source()).ends_with(kSilent), failure_reading(pipe.source()));
  }
}

TEST_CASE("why the password of a pipe was refused is remembered for all copies") {
  for (const auto& [content, why] : std::vector<std::pair<std::string, std::string>>{
           {std::string(9000, 'x'), "is too long for a password"},
           {"one\ntwo\n", "has more than one line"}}) {
    PasswordPipe pipe;
    const PasswordSource source = pipe.source(), copy = source;
    pipe.write(content);
    pipe.writing.reset();
    SUBCASE("by a wait") { source.await(within(Milliseconds{5000})); }
    SUBCASE("by the first connection") {}
    for (const PasswordSource& one : {source, copy, source})
      CHECK_MESSAGE(failure_reading(one).ends_with(why), failure_reading(one));
  }
}

TEST_CASE("waiting for a password file that can be read again does nothing") {
  const TempDir dir;
  const PasswordSource source = PasswordSource::file(dir / "password");
  source.await({.until = kNever});
  write_file(dir / "password", "first\n");
  source.await({.until = kNever});
  write_file(dir / "password", "second\n");
  CHECK(source.read() == "second");
  PasswordSource{}.await({.until = kNever});
  PasswordSource::fixed("x").await({.until = kNever});
}

TEST_CASE("the line of a password file may end as on Windows, or not at all") {
  const TempDir dir;
  for (const std::string content : {"s3cret", "s3cret\n", "s3cret\r\n", "s3cret\r"}) {
    CAPTURE(content);
    write_file(dir / "password", content);
    CHECK(PasswordSource::file(dir / "password").read() == "s3cret");
  }
  write_file(dir / "password", " s3 \r cret \n");
  CHECK(PasswordSource::file(dir / "password").read() == " s3 \r cret ");
}

TEST_CASE("no password and an empty password are different things") {
  CHECK_FALSE(PasswordSource{}.read());
  CHECK(PasswordSource{}.empty());
  CHECK(PasswordSource::fixed("").read() == "");
  CHECK_FALSE(PasswordSource::fixed("").empty());
}
