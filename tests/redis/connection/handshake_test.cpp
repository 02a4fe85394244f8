#include "redis/connection/handshake.h"

#include <doctest/doctest.h>

#include "base/identity.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Address kAddress{.host = "db1", .port = 6379};
const Reply kOk{"OK", Reply::Kind::status};
const Reply kNotAllowed = Reply::error("NOPERM no permissions to run the 'info' command");

constexpr bool kTls = true;

Handshake handshake(Greeting greeting, bool tls = !kTls) { return {std::move(greeting), kAddress, tls}; }

/// The answer to HELLO, as a flat map.
Reply hello(const std::string& mode = "standalone", const std::string& role = "master") {
  return Reply{std::vector<Reply>{Reply{"mode"}, Reply{mode}, Reply{"role"}, Reply{role}}};
}

/// Feeds all replies. None of them may lead to another command.
void accept(Handshake& it, const std::vector<Reply>& replies) {
  for (const Reply& reply : replies) CHECK(it.accept(reply).empty());
}

/// The failure of a greeting whose last reply is an error.
Failure refused(Greeting greeting, const std::vector<Reply>& before, const std::string& error) {
  Handshake it = handshake(std::move(greeting));
  (void)it.begin();
  accept(it, before);
  CHECK_FALSE(it.failure().has_value());
  accept(it, {Reply::error(error)});
  CHECK_FALSE(it.accepted());
  REQUIRE(it.failure().has_value());
  return *it.failure();
}

}  // namespace

TEST_CASE("the greeting names the user, the protocol and the database, in this order") {
  struct Row {
    Greeting greeting;
    std::vector<CommandWords> commands;
    bool alone;
  };
  const std::string name = client_name();
  const CommandWords hello_3{"HELLO", "3", "SETNAME", name};
  const CommandWords set_name{"CLIENT", "SETNAME", name}, mode{"INFO", "server"}, role{"INFO", "replication"};
  const std::vector<Row> rows{
      {{}, {hello_3}, false},
      {{.ask_run_id = true}, {hello_3, {"INFO", "server"}}, false},
      {{.meant = {.db = 3}}, {hello_3, {"SELECT", "3"}}, true},
      {{.password = "secret"}, {{"AUTH", "secret"}, hello_3}, true},
      {{.user = "default", .password = "secret"}, {{"AUTH", "secret"}, hello_3}, true},
      {{.user = "app", .password = "secret"},
       {{"HELLO", "3", "AUTH", "app", "secret", "SETNAME", name}},
       true},
      {{.user = "app"}, {{"HELLO", "3", "AUTH", "app", "", "SETNAME", name}}, true},
      {{.resp3 = false}, {set_name, mode, role}, false},
      {{.resp3 = false, .ask_run_id = true}, {set_name, mode, role}, false},
      {{.password = "secret", .resp3 = false}, {{"AUTH", "secret"}, set_name, mode, role}, true},
      {{.user = "app", .password = "secret", .resp3 = false, .meant = {.db = 2}},
       {{"AUTH", "app", "secret"}, set_name, {"SELECT", "2"}, mode, role},
       true},
  };
  for (const Row& row : rows) {
    Handshake it = handshake(row.greeting);
    CHECK(it.begin() == row.commands);
    CHECK(it.comes_alone() == row.alone);
  }
}

TEST_CASE("the server has accepted us when nothing of the greeting can be refused any more") {
  Handshake it = handshake({.password = "secret", .meant = {.db = 3}, .ask_run_id = true});
  (void)it.begin();
  accept(it, {kOk, hello()});
  CHECK_FALSE(it.accepted());
  accept(it, {kOk});
  CHECK(it.accepted());
  CHECK(it.identity().mode == "standalone");
  CHECK(it.identity().run_id.empty());
  accept(it, {Reply{"redis_version:7.0.0\r\nrun_id:abc\r\n"}});
  CHECK(it.accepted());
  CHECK(it.identity().run_id == "abc");
}

TEST_CASE("a server that refuses to be asked for its run id accepts us") {
  Handshake it = handshake({.ask_run_id = true});
  (void)it.begin();
  accept(it, {hello(), kNotAllowed});
  CHECK(it.accepted());
  CHECK_FALSE(it.failure().has_value());
}

TEST_CASE("a name that may not be set does not end the greeting") {
  Handshake it = handshake({.resp3 = false});
  (void)it.begin();
  accept(it, {Reply::error("NOPERM no permissions to run the 'client|setname' command")});
  CHECK_FALSE(it.accepted());
  accept(it, {kNotAllowed, kNotAllowed});
  CHECK(it.accepted());
}

TEST_CASE("in RESP2 the server's identity comes from INFO") {
  Handshake it = handshake({.resp3 = false});
  (void)it.begin();
  accept(it, {kOk, Reply{"redis_mode:cluster\r\nrun_id:abc\r\n"}, Reply{"# Replication\r\nrole:slave\r\n"}});
  CHECK(it.accepted());
  CHECK(it.identity().mode == "cluster");
  CHECK(it.identity().role == "replica");
  CHECK(it.identity().run_id == "abc");

  Handshake sentinel = handshake({.resp3 = false});
  (void)sentinel.begin();
  accept(sentinel, {kOk});
  CHECK(sentinel.accept(Reply{"redis_mode:sentinel\r\n"}) ==
        std::vector<CommandWords>{{"SENTINEL", "MASTERS"}});
  CHECK(sentinel.unexpected());
}

TEST_CASE("a refused greeting is final, and the failure explains the refusal") {
  const Greeting app{.user = "app", .password = "secret", .meant = {.db = 3}};
  CHECK(refused(app, {}, "WRONGPASS invalid username-password pair").kind == Error::denied);
  // The message knows whether a password was given.
  const std::string wrong = "WRONGPASS invalid username-password pair";
  const std::string without =
      "; rlock gave no password; give one by --password-file, RLOCK_PASSWORD or --askpass";
  CHECK(contains(refused(app, {}, wrong).text, "does not accept this user or its password"));
  CHECK_FALSE(contains(refused(app, {}, wrong).text, without));
  CHECK(contains(refused({.user = "app"}, {}, wrong).text, without));
  CHECK(refused({.user = "app"}, {}, wrong).kind == Error::denied);
  CHECK(refused(app, {}, "ERR max number of clients reached").kind == Error::unreachable);
  CHECK(refused(app, {}, "LOADING Redis is loading the dataset in memory").kind == Error::unreachable);
  CHECK(refused(app, {}, "ERR something else").kind == Error::denied);
  CHECK(refused({}, {}, "ERR upstream failure").kind == Error::unreachable);  // a proxy without its server
  CHECK(refused(app, {hello()}, "NOPERM no permissions to run the 'select' command").kind == Error::denied);
  const Failure no_such_db = refused(app, {hello()}, "ERR DB index is out of range");
  CHECK(no_such_db.kind == Error::config);
  CHECK(contains(no_such_db.text, "no database 3"));
  CHECK_FALSE(contains(no_such_db.text, "secret"));
  const Failure node = refused(app, {hello()}, "ERR SELECT is not allowed in cluster mode");
  CHECK(node.kind == Error::config);
  CHECK(contains(node.text, "use --url redis+cluster://"));
  // Redis answers HELLO while a script runs, and refuses SELECT.
  CHECK(refused(app, {hello()}, "BUSY Redis is busy running a script.").kind == Error::unreachable);
}

TEST_CASE("a password for a server that asks for none is an error, because it is probably another server") {
  for (const char* error :
       {"ERR AUTH <password> called without any password configured for the default user.",
        "ERR Client sent AUTH, but no password is set"}) {
    for (const bool resp3 : {true, false}) {
      Handshake it = handshake({.password = "secret", .resp3 = resp3});
      (void)it.begin();
      accept(it, {Reply::error(error)});
      accept(it, resp3 ? std::vector<Reply>{hello()} : std::vector<Reply>{kOk, kNotAllowed, kNotAllowed});
      CHECK_FALSE(it.accepted());
      REQUIRE(it.failure().has_value());
      CHECK(it.failure()->kind == Error::denied);
      CHECK(contains(it.failure()->text, "asks for no password"));
    }
  }
}

TEST_CASE("a server that does not know HELLO 3 is greeted in RESP2 the next time") {
  for (const char* error : {"ERR unknown command 'HELLO', with args beginning with: '3'", "NOPROTO sorry"}) {
    Handshake it = handshake({});
    (void)it.begin();
    accept(it, {Reply::error(error)});
    CHECK(it.failure()->kind == Error::unreachable);
    CHECK(it.wants_resp2() == Handshake::Resp2::certain);
  }
}

TEST_CASE("in RESP2, too, a server that asks for a password denies us") {
  CHECK(refused({.resp3 = false}, {}, "NOAUTH Authentication required.").kind == Error::denied);
}

TEST_CASE("a server that hangs up without a word may know only RESP2, or speak TLS") {
  const Failure why{Error::unreachable, "the server closed the connection"};
  Handshake resp3 = handshake({});
  CHECK(resp3.hung_up(why).text == "the server closed the connection; if it speaks TLS: rediss://");
  CHECK(resp3.wants_resp2() == Handshake::Resp2::suspected);
  CHECK(handshake({.to_known = true}).hung_up(why).text == why.text);

  Handshake resp2 = handshake({.resp3 = false}, kTls);
  CHECK(resp2.hung_up(why).text == why.text);
  CHECK(resp2.wants_resp2() == Handshake::Resp2::no);
}

TEST_CASE("a server of another kind is asked for its kind, and the rest of the greeting is ignored") {
  Handshake it = handshake({.meant = {.db = 3}, .ask_run_id = true});
  (void)it.begin();
  const auto question = it.accept(hello("sentinel"));
  REQUIRE(question.size() == 1);
  CHECK(question.front() == question_to_unexpected({.mode = "sentinel", .role = {}, .run_id = {}}));
  CHECK(it.unexpected());

  accept(it, {Reply::error("ERR unknown command 'SELECT'"), Reply::error("ERR unknown command 'INFO'")});
  CHECK_FALSE(it.failure().has_value());
  accept(it, {Reply{std::vector<Reply>{}}});
  CHECK_FALSE(it.accepted());
  CHECK(it.failure()->kind == Error::config);
  CHECK(contains(it.failure()->text, "it is a Sentinel"));
}

TEST_CASE("a Sentinel that asks for no password is reported as a Sentinel, not as a wrong password") {
  Handshake it = handshake({.password = "secret"});
  (void)it.begin();
  accept(it,
         {Reply::error("ERR AUTH <password> called without any password configured for the default user.")});
  CHECK(it.accept(hello("sentinel")).size() == 1);
  CHECK(it.unexpected());
  accept(it, {Reply{std::vector<Reply>{}}});
  CHECK(it.failure()->kind == Error::config);
  CHECK(contains(it.failure()->text, "it is a Sentinel"));
}

TEST_CASE("a replica is an unexpected server only if the primary is meant") {
  Handshake any = handshake({});
  (void)any.begin();
  accept(any, {hello("standalone", "replica")});
  CHECK(any.accepted());

  Handshake to_primary = handshake({.meant = {.primary = true}});
  (void)to_primary.begin();
  CHECK(to_primary.accept(hello("standalone", "replica")) == std::vector<CommandWords>{{"ROLE"}});
  CHECK(to_primary.unexpected());
}
