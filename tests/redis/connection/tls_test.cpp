#include "redis/connection/tls.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "redis/executor/executor.h"
#include "support/certificates.h"
#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/redis_server.h"
#include "support/sentinel_server.h"
#include "support/skipped.h"
#include "support/sockets.h"
#include "support/test_calls.h"
#include "support/turning.h"
#include "support/variable.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Certificates& certificates() {
  static Certificates all;
  return all;
}

/// A server that speaks TLS with this certificate, on a port of its own.
class TlsServer {
 public:
  explicit TlsServer(const Certificates::Pair pair, std::vector<std::string> more = {})
      : port(free_port()), redis({.config = lines(pair, std::move(more))}) {}

  std::uint16_t port;
  RedisServer redis;

 private:
  std::vector<std::string> lines(const Certificates::Pair& pair, std::vector<std::string> more) const {
    std::vector<std::string> all{"tls-port " + std::to_string(port), "tls-cert-file " + pair.cert,
                                 "tls-key-file " + pair.key, "tls-ca-cert-file " + certificates().authority(),
                                 "tls-auth-clients no"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

/// Speaks TLS, answers nothing, and records the bytes it receives.
class Recorder {
 public:
  explicit Recorder(const Certificates::Pair& pair)
      : port(free_port()),
        process_({"openssl", "s_server", "-quiet", "-accept", std::to_string(port), "-cert", pair.cert,
                  "-key", pair.key},
                 {.descriptors = {{0, silence_.reading.number()}}}) {
    REQUIRE(eventually([&] {
      const int fd = connect_to("127.0.0.1:" + std::to_string(port));
      if (fd >= 0) ::close(fd);
      return fd >= 0;
    }));
  }
  std::string heard() const { return process_.out(); }

  std::uint16_t port;

 private:
  Pipe silence_;  ///< its stdin neither sends data nor ends: s_server hangs up when its stdin ends
  Process process_;
};

Target tls_target(std::uint16_t port, const std::string& host = "127.0.0.1") {
  Target target = parse_target("rediss://" + host + ":" + std::to_string(port));
  target.tls.cacert = certificates().authority();
  return target;
}

Vote ask(const Target& target, const Call& call = kCall, Milliseconds patience = Milliseconds{1500}) {
  Loop loop;
  Executor redis{loop, {target}, {.timeouts = {.connect = patience, .command = patience}}};
  return redis.run_all(call, with_retries(), within(2 * patience)).front();
}

std::string refusal_of(Tls tls) {
  tls.on = true;
  try {
    const TlsContext context{tls};
  } catch (const Error& error) {
    CHECK(error.kind() == Error::config);
    return error.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("rlock speaks TLS with a server that proves its name or its IP address") {
  TlsServer server{certificates().issue("good")};
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Vote vote = ask(tls_target(server.port, host));
    REQUIRE(vote.good_reply() != nullptr);
    CHECK(vote.reply()->integer() == 1);
  }
  Target by_directory = tls_target(server.port);
  by_directory.tls.cacert.clear();
  by_directory.tls.cacertdir = certificates().hashed_directory();
  CHECK(ask(by_directory).good_reply() != nullptr);
}

TEST_CASE("answers larger than a record of TLS arrive as a whole, and so do large questions") {
  TlsServer server{certificates().issue("good")};
  const std::string large(300'000, 'x');
  CHECK(ask(tls_target(server.port), command({"SET", "k", large})).good_reply() != nullptr);
  CHECK(ask(tls_target(server.port), with_large_reply(command({"GET", "k"}))).reply()->text() == large);
}

TEST_CASE("announcements arrive through TLS without a question in between") {
  TlsServer server{certificates().issue("good")};
  Loop loop;
  Executor redis{loop, {tls_target(server.port)}, {}};
  redis.watch(Channel{"c"});
  REQUIRE(turns(loop, [&] { return redis.wakeups() == 1; }));
  for (std::uint64_t count = 2; count < 20; ++count) {
    server.redis.cli({"PUBLISH", "c", "0"});
    REQUIRE(turns(loop, [&] { return redis.wakeups() == count; }));
  }
  CHECK(wake_ups(loop, Milliseconds{100}) <= 2);
}

TEST_CASE("a server that does not prove its identity gets no password") {
  const std::string past = "20200101000000Z", earlier = "20210101000000Z";
  const std::string later_on = "20980101000000Z", future = "20970101000000Z";
  struct Case {
    const char* name;
    Certificates::Wanted wanted;
    const char* host;
    const char* reason;
  };
  const Case cases[] = {
      {"expired", {.from = past, .until = earlier}, "127.0.0.1", "certificate has expired"},
      {"early", {.from = future, .until = later_on}, "127.0.0.1", "certificate is not yet valid"},
      {"self-signed", {.self_signed = true}, "127.0.0.1", "self-signed certificate"},
      {"misnamed", {.names = "DNS:other.example"}, "localhost", "hostname mismatch"},
      {"name-for-number", {.names = "DNS:localhost,DNS:127.0.0.1"}, "127.0.0.1", "IP address mismatch"},
      {"other-number", {.names = "IP:127.0.0.2"}, "127.0.0.1", "IP address mismatch"},
      {"partial-wildcard", {.names = "DNS:local*"}, "localhost", "hostname mismatch"},
      {"client-only", {.use = "clientAuth"}, "127.0.0.1", "unsuitable certificate purpose"},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string{one.name});
    Recorder recorder{certificates().issue(one.name, one.wanted)};
    Target target = tls_target(recorder.port, one.host);
    target.password = PasswordSource::fixed("canary");

    const Vote vote = ask(target);
    REQUIRE(vote.failure());
    CHECK(vote.failure()->kind == Error::denied);
    CHECK(contains(vote.failure()->text, one.reason));
    CHECK(recorder.heard().empty());

    target.tls.insecure = true;
    ask(target, kCall, Milliseconds{200});
    CHECK(contains(recorder.heard(), "canary"));  // the recorder does receive the password
  }
}

TEST_CASE("an untrusted authority proves nothing, and by default the system's authorities are trusted") {
  const Certificates strangers;
  TlsServer server{certificates().issue("good")};
  Target target = tls_target(server.port);
  target.tls.cacert = strangers.authority();
  CHECK(contains(ask(target).failure()->text, "--cacert names the authorities to trust"));
  target.tls.cacert.clear();
  CHECK(ask(target).failure()->kind == Error::denied);
}

TEST_CASE("a server that a Cluster or a Sentinel names gets no password before it has proved that name") {
  if (RedisServer::version() < 70000) return skipped("needs Redis 7");
  const auto heard_where = [](const std::string& host, std::uint16_t port) {
    RedisServer primary{{.tcp = true}};
    const auto good = certificates().issue("good");
    TlsServer node{good,
                   {"cluster-enabled yes", "tls-cluster yes", "cluster-port " + std::to_string(free_port()),
                    "cluster-announce-ip " + host, "cluster-announce-tls-port " + std::to_string(port),
                    "user app on >canary ~* &* +@all"}};
    node.redis.cli({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    const std::uint16_t tls_port = free_port();
    SentinelServer sentinel{"m", primary,
                            "sentinel monitor named " + host + " " + std::to_string(port) + " 1\ntls-port " +
                                std::to_string(tls_port) + "\ntls-cert-file " + good.cert +
                                "\ntls-key-file " + good.key + "\ntls-ca-cert-file " +
                                certificates().authority() + "\ntls-auth-clients no\n"};
    std::vector<std::string> reasons;
    for (const std::string& url : {"rediss+cluster://127.0.0.1:" + std::to_string(node.port),
                                   "rediss+sentinel://127.0.0.1:" + std::to_string(tls_port) + "/named"}) {
      Target target = parse_target(url);
      target.tls.cacert = certificates().authority();
      target.user = "app";
      target.password = PasswordSource::fixed("canary");
      reasons.push_back(ask(target, kCall, Milliseconds{700}).trouble().value_or(Failure{}).text);
    }
    return reasons;
  };

  Recorder wrong{certificates().issue("wrong-name", {.names = "DNS:localhost,IP:127.0.0.1"})};
  for (const std::string& reason : heard_where("127.0.0.2", wrong.port))
    CHECK_MESSAGE(contains(reason, "IP address mismatch"), reason);
  CHECK(wrong.heard().empty());

  FakeRedis plain{FakeRedis::Transport::tcp};
  for (const std::string& reason : heard_where("127.0.0.1", plain.port()))
    CHECK_MESSAGE(contains(reason, "TLS"), reason);
  CHECK_FALSE(contains(plain.received(), "canary"));

  Recorder right{certificates().issue("right-name", {.names = "IP:127.0.0.2"})};
  heard_where("127.0.0.2", right.port);
  CHECK(contains(right.heard(), "canary"));  // the recorder does receive the password
}

TEST_CASE("--sni is the name that rlock asks for and verifies, and it never asks for an IP address") {
  TlsServer server{certificates().issue("by-name", {.names = "DNS:redis.example,DNS:*.wild.example"})};
  Target target = tls_target(server.port);
  CHECK(ask(target).failure()->kind == Error::denied);
  for (const char* name : {"redis.example", "a.wild.example"}) {
    target.tls.sni = name;
    CHECK(ask(target).good_reply() != nullptr);
  }
  target.tls.sni = "a.b.wild.example";
  CHECK(ask(target).failure()->kind == Error::denied);

  FakeRedis recorder{FakeRedis::Transport::tcp};
  for (const char* sni : {"", "redis.example"}) {
    Target plain = tls_target(recorder.port());
    plain.tls.sni = sni;
    Loop loop;
    Executor redis{loop, {plain}, {.timeouts = {.connect = Milliseconds{100}, .command = Milliseconds{100}}}};
    redis.run_all(kCall, with_retries(), within(Milliseconds{300}));
  }
  const std::string hellos = recorder.received();
  CHECK(contains(hellos, "redis.example"));
  CHECK_FALSE(contains(hellos, "127.0.0.1"));
}

TEST_CASE("a server that wants our certificate gets it, and without it says so") {
  TlsServer server{certificates().issue("good"), {"tls-auth-clients yes"}};
  Target target = tls_target(server.port);
  const Vote refused = ask(target);
  REQUIRE(refused.failure());
  CHECK(refused.failure()->kind == Error::denied);
  CHECK(contains(refused.failure()->text, "--cert and --tls-key"));

  const auto ours = certificates().issue("ours");
  target.tls.cert = ours.cert;
  target.tls.key = ours.key;
  CHECK(ask(target).good_reply() != nullptr);
}

TEST_CASE("a password goes through TLS once the server is known") {
  TlsServer server{certificates().issue("good"), {"requirepass right"}};
  Target target = tls_target(server.port);
  target.password = PasswordSource::fixed("right");
  CHECK(ask(target).good_reply() != nullptr);
  target.password = PasswordSource::fixed("wrong");
  CHECK(ask(target).failure()->kind == Error::denied);
}

TEST_CASE("certificates that are replaced while we are connected are read again at the next connection") {
  TlsServer server{certificates().issue("good"), {"tls-auth-clients yes"}};
  const TempDir ours;
  const auto install = [&](const Certificates::Pair& pair, const std::string& authority) {
    write_file(ours / "cert", read_file(pair.cert));
    write_file(ours / "key", read_file(pair.key));
    write_file(ours / "authority", read_file(authority));
  };
  install(certificates().issue("ours"), certificates().authority());
  Target target = tls_target(server.port);
  target.tls.cacert = ours / "authority";
  target.tls.cert = ours / "cert";
  target.tls.key = ours / "key";
  Loop loop;
  Executor redis{loop, {target}, {}};
  const auto asks = [&] {
    return redis.run_all(kCall, with_retries(), within(Milliseconds{5000})).front().good_reply() != nullptr;
  };
  REQUIRE(asks());

  Certificates strangers;
  const auto theirs = strangers.issue("good");
  server.redis.cli({"CONFIG", "SET", "tls-ca-cert-file", strangers.authority(), "tls-cert-file", theirs.cert,
                    "tls-key-file", theirs.key});
  install(strangers.issue("ours"), strangers.authority());
  CHECK(asks());  // over the open connection
  server.redis.cli({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(asks());

  write_file(ours / "key", "half of a k");  // as while the file is being replaced
  server.redis.cli({"CLIENT", "KILL", "TYPE", "normal"});
  CHECK(asks());
}

TEST_CASE("rlock refuses to renegotiate TLS, because a call would be lost meanwhile") {
  const std::uint16_t port = free_port();
  const Certificates::Pair& pair = certificates().issue("renegotiating");
  const Pipe keys;
  Process server{{"openssl", "s_server", "-tls1_2", "-accept", std::to_string(port), "-cert", pair.cert,
                  "-key", pair.key},
                 {.descriptors = {{0, keys.reading.number()}}}};
  REQUIRE(eventually([&] { return contains(server.out(), "ACCEPT"); }, 10s));
  Loop loop;
  Executor redis{loop, {tls_target(port)}, {.timeouts = {.connect = 10s, .command = 10s}}};
  auto request = redis.post(kCall, with_retries(), plus(Clock::now(), 60s));
  REQUIRE(turns(loop, [&] { return contains(server.out(), "HELLO"); }));
  REQUIRE(::write(keys.writing.number(), "r\n", 2) == 2);  // s_server asks for it
  CHECK(turns(loop, [&] { return contains(server.err(), "no renegotiation"); }));
  request.drop();
}

TEST_CASE("older versions of TLS are not spoken") {
  TlsServer server{certificates().issue("good"),
                   {"tls-protocols \"TLSv1.1\"", "tls-ciphers DEFAULT:@SECLEVEL=0"}};
  const Vote vote = ask(tls_target(server.port));
  REQUIRE(vote.failure());
  CHECK(vote.failure()->kind == Error::unreachable);
}

TEST_CASE("a plaintext server behind rediss:// has a message of its own, and so has TLS behind redis://") {
  RedisServer plain{{.tcp = true}};
  const StopWatch watch;
  const Vote vote = ask(tls_target(plain.port()));
  REQUIRE(vote.failure());
  CHECK(vote.failure()->kind == Error::unreachable);
  CHECK(contains(vote.failure()->text, "or is a plaintext server"));
  CHECK(watch.elapsed() < 2500ms);

  Target cluster = tls_target(plain.port());
  cluster.topology = Target::Topology::cluster;
  CHECK(contains(ask(cluster).failure()->text, "or is a plaintext server"));

  TlsServer server{certificates().issue("good")};
  Target target = tls_target(server.port);
  target.tls.on = false;
  const Vote other = ask(target);
  CHECK(other.failure()->kind == Error::unreachable);
  CHECK(contains(other.failure()->text, "if it speaks TLS: rediss://"));
}

TEST_CASE("a plain-text answer in the place of TLS is recognized at once") {
  FakeRedis fake{FakeRedis::Transport::tcp};
  fake.greet_with("-ERR Protocol error\r\n");
  const StopWatch watch;
  CHECK(contains(ask(tls_target(fake.port())).failure()->text, "looks like a plaintext server"));
  CHECK(watch.elapsed() < 1000ms);
}

TEST_CASE("a silent acceptor and a server that hangs up in the handshake end in time") {
  const auto listener = listen_on_loopback();
  const StopWatch watch;
  CHECK(contains(ask(tls_target(listener.port)).failure()->text, "no answer to the TLS handshake: it hangs"));
  CHECK(watch.elapsed() < 2000ms);
  ::close(listener.fd);
}

TEST_CASE("a FIFO is refused wherever OpenSSL would open it, because it would block for ever") {
  Certificates& all = certificates();
  const auto good = all.issue("good");
  const std::string fifo = all / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const std::string why = " '" + fifo + "': is not a regular file";
  CHECK(refusal_of({.cacert = fifo}) == "--cacert" + why);
  CHECK(refusal_of({.cert = fifo, .key = good.key}) == "--cert" + why);
  CHECK(refusal_of({.cert = good.cert, .key = fifo}) == "--tls-key" + why);
  const std::string folder = all / "with-fifo";
  REQUIRE(::mkdir(folder.c_str(), 0700) == 0);
  REQUIRE(::mkfifo((folder + "/0123abcd.0").c_str(), 0600) == 0);
  CHECK(refusal_of({.cacertdir = folder}) ==
        "--cacertdir '" + folder + "': '0123abcd.0' is not a regular file");
  const Variable authorities{"SSL_CERT_FILE", fifo};
  CHECK(refusal_of({}) == "SSL_CERT_FILE" + why);
}

TEST_CASE("unsuitable files are refused before anything is sent") {
  Certificates& all = certificates();
  const auto good = all.issue("good");
  const auto other = all.issue("other");
  write_file(all / "empty", "");
  write_file(all / "junk", "-----BEGIN CERTIFICATE-----\njunk\n-----END CERTIFICATE-----\n");
  ::mkdir((all / "bare").c_str(), 0700);
  CHECK(output_of(
            {"openssl", "pkey", "-in", good.key, "-aes128", "-passout", "pass:x", "-out", all / "locked.key"})
            .empty());

  CHECK(refusal_of({.cacert = all / "none"}) == "--cacert '" + all / "none" + "': no such file or directory");
  CHECK(refusal_of({.cacert = all.directory()}).ends_with(": is a directory"));
  CHECK(contains(refusal_of({.cacert = all / "empty"}), "no certificate in PEM"));
  CHECK(contains(refusal_of({.cacert = all / "junk"}), "no certificate in PEM"));
  CHECK(refusal_of({.cacertdir = all / "none"}).ends_with("no such file or directory"));
  CHECK(contains(refusal_of({.cacertdir = all / "bare"}), "openssl rehash"));
  CHECK(refusal_of({.cert = all / "none", .key = good.key}).find("--cert") == 0);
  CHECK(contains(refusal_of({.cert = all / "empty", .key = good.key}), "no certificate in PEM"));
  CHECK(refusal_of({.cert = good.cert, .key = all / "none"}).find("--tls-key") == 0);
  CHECK(contains(refusal_of({.cert = good.cert, .key = all / "empty"}), "no private key in PEM"));
  CHECK(contains(refusal_of({.cert = good.cert, .key = other.key}), "is not the key of --cert"));
  CHECK(contains(refusal_of({.cert = good.cert, .key = all / "locked.key"}), "is encrypted"));
  CHECK(refusal_of({.cert = good.cert, .key = good.key}) == "none");
  CHECK(refusal_of({}) == "none");
}
