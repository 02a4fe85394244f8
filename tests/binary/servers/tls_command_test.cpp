#include <doctest/doctest.h>
#include <sys/stat.h>

#include "support/certificates.h"
#include "support/cli.h"
#include "support/contains.h"
#include "support/redis_server.h"
#include "support/tcp_proxy.h"

using namespace rlock::test;

namespace {

/// A server with TLS, and an rlock that trusts it.
class TlsServer {
 public:
  Process::Options options = Rlock::clean_environment();

  /// The dynamic loader now finds OpenSSL's library, but cannot load it.
  void break_library() {
    write_file(folder_ / "libssl.so.3", "");
    options.env["LD_LIBRARY_PATH"] = folder_.path();
  }

  Words run(const std::string& url, const Words& more = {}) const {
    Words words{"run", "-u", url, "-k", "k"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "echo", "held"});
    return words;
  }
  Words run_with_tls() const {
    return run("rediss://127.0.0.1:" + std::to_string(port_), {"--cacert", certificates_.authority()});
  }
  std::string plain_url() const { return redis_.url(); }
  std::string tls_address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  TempDir folder_;
  Certificates certificates_;
  Certificates::Pair pair_ = certificates_.issue("good");
  std::uint16_t port_ = free_port();
  RedisServer redis_{{.config = {"tls-port " + std::to_string(port_), "tls-cert-file " + pair_.cert,
                                 "tls-key-file " + pair_.key, "tls-ca-cert-file " + certificates_.authority(),
                                 "tls-auth-clients no"}}};
};

/// True: the portable binary, which contains OpenSSL and needs no library of the machine.
bool brings_openssl() {
  Rlock version{{"version", "-v"}};
  return version.exit_code() == 0 && !contains(version.out(), "loaded for TLS");
}

}  // namespace

TEST_CASE("a command runs under a lock of a server with TLS") {
  TlsServer scene;
  Rlock rlock{scene.run_with_tls(), scene.options};
  CHECK(rlock.exit_code() == 0);
  CHECK(rlock.out() == "held\n");
  CHECK(rlock.err().empty());
}

TEST_CASE(
    "without the system's OpenSSL a server with TLS cannot be used, unless rlock brings its own: 69, one line "
    "that says what to install") {
  TlsServer scene;
  scene.break_library();
  Rlock rlock{scene.run_with_tls(), scene.options};
  if (brings_openssl()) {
    CHECK(rlock.exit_code() == 0);
    CHECK(rlock.out() == "held\n");
    return;
  }
  CHECK(rlock.exit_code() == 69);
  CHECK(rlock.out().empty());
  CHECK(rlock.err().starts_with("rlock: TLS needs OpenSSL 3 ("));
  CHECK(rlock.err().ends_with("); install the package libssl3, or openssl\n"));
}

TEST_CASE("without OpenSSL a server without TLS is used as ever") {
  TlsServer scene;
  scene.break_library();
  Rlock rlock{scene.run(scene.plain_url()), scene.options};
  CHECK(rlock.exit_code() == 0);
  CHECK(rlock.out() == "held\n");
}

TEST_CASE("the time that each of several servers may use does not begin before it is connected") {
  const TlsServer one, two;
  TcpProxy near{one.tls_address()}, far{two.tls_address()};
  Words words{"run", "-n", "--lease", "6s", "--insecure", "-k", "k"};
  for (TcpProxy* const proxy : {&near, &far}) {
    proxy->delay(TcpProxy::Way::to_client, std::chrono::milliseconds{160});
    words.insert(words.end(), {"-u", "rediss://127.0.0.1:" + std::to_string(proxy->port())});
  }
  words.insert(words.end(), {"--", "true"});
  // Each server has 300 ms; the handshake and the greeting take 320 ms or more, and the acquire takes 160 ms.
  Rlock run{words, one.options};
  CHECK_MESSAGE(run.exit_code() == 0, run.err());
}
