#include "redis/executor/executor.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "support/contains.h"
#include "support/fake_redis.h"
#include "support/hello.h"
#include "support/redis_server.h"
#include "support/test_calls.h"
#include "support/turning.h"

using namespace rlock;
using namespace rlock::test;

namespace {

const Call kGet = command({"GET", "k"}, "k");
const Delivery kPersist = with_retries();
const Delivery kOnce;

Executor::Options quick(bool retry_first_contact = false) {
  return {.timeouts = {.connect = Milliseconds{200}, .command = Milliseconds{200}},
          .retry_first_contact = retry_first_contact};
}

/// For calls that are not tried again: a server on a loaded machine may answer late.
const Executor::Options kPatient{
    .timeouts = {.connect = Milliseconds{30000}, .command = Milliseconds{30000}}};

/// A route that looks for its server until the test calls found().
class LateRoute final : public Route {
 public:
  LateRoute(Loop& loop, const std::string& socket)
      : connection_(loop, {.address = {.path = socket}, .open_within = 1000ms}, Clock::now()) {}

  void found() { connecting_ = false; }
  int asked() const { return asked_; }

  Choice connection_for(std::string_view, TimePoint) override {
    ++asked_;
    if (connecting_) return NotYet{};
    return &connection_;
  }
  bool connecting() const override { return connecting_; }
  TimePoint next_attempt() const override { return kNever; }
  Verdict judge(ConnectionNumber, const Reply&, std::string_view, TimePoint) override {
    return Verdict::deliver;
  }
  std::set<std::string> run_ids() const override { return {}; }
  void abandon(ConnectionNumber, TimePoint) override {}
  void send_on_abandoned(const std::vector<Call>&) override {}
  Connection* find(ConnectionNumber) override { return &connection_; }
  bool contacted() const override { return connection_.spoke(); }
  std::uint64_t losses() const override { return 0; }
  void watch(const Channel&) override {}
  void unwatch(const Channel&) override {}
  std::uint64_t wakeups() const override { return 0; }
  std::vector<Message> take_messages() override { return {}; }
  const std::optional<std::string>& subscribe_error() const override { return none_; }
  std::string str() const override { return "late"; }
  void ready(short, TimePoint) override {}

 private:
  Connection connection_;
  const std::optional<std::string> none_;
  bool connecting_ = true;
  int asked_ = 0;
};

struct ExecutorFixture {
  explicit ExecutorFixture(std::vector<std::string> urls, Executor::Options options = quick())
      : redis(loop, targets(urls), options) {}

  static std::vector<Target> targets(const std::vector<std::string>& urls) {
    std::vector<Target> all;
    for (const auto& url : urls) all.push_back(parse_target(url));
    return all;
  }
  Vote vote(const Call& call, Milliseconds patience = Milliseconds{2000},
            const Delivery& delivery = kPersist) {
    return redis.run_all(call, delivery, within(patience)).front();
  }

  Loop loop;
  Executor redis;
};

}  // namespace

TEST_CASE("an uncontended call takes one connection, and its lease runs from before it was written") {
  RedisServer server;
  ExecutorFixture f{{server.url()}};
  const TimePoint before = Clock::now();

  const Vote vote = f.vote(kCall);
  CHECK(vote.good_reply() != nullptr);
  CHECK(vote.reply()->integer() == 1);
  CHECK(vote.asked >= before);
  CHECK(vote.asked <= Clock::now());
  CHECK(vote.attempts == (knows_hello(server) ? 1 : 2));
  CHECK(f.redis.contacted());
}

TEST_CASE(
    "a call that is posted while its route connects is written when the route is ready, without a timer") {
  FakeRedis fake;
  fake.on("GET", wire::text("v"));
  Loop loop;
  auto late = std::make_unique<LateRoute>(loop, fake.socket());
  LateRoute& route = *late;
  std::vector<std::unique_ptr<Route>> routes;
  routes.push_back(std::move(late));
  Executor redis{loop, std::move(routes), quick()};
  turns(loop, [&] { return route.contacted(); });

  auto request = redis.post(kGet, kOnce, kNever);
  CHECK(redis.wake_at() == kNever);
  CHECK(wake_ups(loop, Milliseconds{100}) <= 1);
  CHECK(route.asked() == 1);

  route.found();
  CHECK(redis.wake_at() == TimePoint::min());
  loop.turn(Clock::now());
  CHECK(route.asked() == 2);
  CHECK(turns(loop, [&] { return request.settled(); }));
  CHECK(request.votes().front().good_reply()->text() == "v");
  CHECK(redis.wake_at() == kNever);
  request.drop();
}

TEST_CASE("a server that knows no HELLO, or hangs up on it, answers a call that is made once") {
  for (const std::string& to_hello : {wire::error("ERR unknown command 'HELLO'"), wire::kClose}) {
    FakeRedis old;
    old.on("HELLO", to_hello);
    old.on("GET", wire::text("v"));
    ExecutorFixture f{{old.url()}};

    const Vote vote = f.vote(kGet, Milliseconds{2000}, kOnce);
    REQUIRE(vote.good_reply() != nullptr);
    CHECK(vote.good_reply()->text() == "v");
  }
}

TEST_CASE("several servers that know no HELLO, or hang up on it, answer an acquire that is made once") {
  for (const std::string& to_hello : {wire::error("ERR unknown command 'HELLO'"), wire::kClose}) {
    std::array<FakeRedis, 3> old;
    for (FakeRedis& each : old) {
      each.on("HELLO", to_hello);
      each.on("GET", wire::text("v"));
    }
    ExecutorFixture f{{old[0].url(), old[1].url(), old[2].url()}};

    const Delivery acquire{.retry = Delivery::Retry::never, .source = Delivery::Source::to_several};
    for (const Vote& vote : f.redis.run_all(kGet, acquire, within(Milliseconds{2000}))) {
      CAPTURE(vote.failure() ? vote.failure()->text : "");
      REQUIRE(vote.good_reply() != nullptr);
      CHECK(vote.good_reply()->text() == "v");
    }
  }
}

TEST_CASE("a follower that the server does not know is sent again, even if its call was already answered") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  const Delivery followed = with_retries({Call{.script = &kOtherScript, .keys = {"k"}}});
  fake.answer(wire::integer(1));
  REQUIRE(f.vote(kCall, Milliseconds{2000}, followed).good_reply() != nullptr);
  CHECK(f.redis.has_followers_in_flight());

  fake.answer(wire::error("NOSCRIPT No matching script."));
  fake.answer(wire::integer(2));
  f.redis.await_followers(within(Milliseconds{2000}));
  CHECK_FALSE(f.redis.has_followers_in_flight());
  CHECK(fake.count("EVAL") == 1);
}

TEST_CASE(
    "rlock waits for the reply to a follower only for a while, and not at all if the connection broke") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  fake.answer(wire::integer(1));
  const Delivery followed = with_retries({Call{.script = &kOtherScript, .keys = {"k"}}});
  REQUIRE(f.vote(kCall, Milliseconds{2000}, followed).good_reply() != nullptr);
  const StopWatch watch;
  f.redis.await_followers(within(Milliseconds{60'000}));
  CHECK(watch.elapsed() < 30s);
  CHECK(f.redis.has_followers_in_flight());
  fake.hang_up();
  CHECK(turns(f.loop, [&] { return !f.redis.has_followers_in_flight(); }));
}

TEST_CASE("a call with retries outlives broken connections") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  fake.on("GET", wire::text("v"));
  REQUIRE(f.vote(kGet).good_reply() != nullptr);

  int broken = 0;
  fake.decide([&](const Words& command) -> std::optional<std::string> {
    if (command.front() != "EVALSHA" || ++broken > 3) return std::nullopt;
    return wire::kClose;
  });
  fake.answer(wire::integer(1));
  const Vote vote = f.vote(kCall);
  REQUIRE(vote.good_reply() != nullptr);
  CHECK(vote.attempts == 4);
}

TEST_CASE("a call that is made once fails with its connection, and says how") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  fake.on("EVALSHA", wire::kClose);

  const Vote vote = f.vote(kCall, Milliseconds{2000}, kOnce);
  REQUIRE(vote.failure());
  CHECK(vote.failure()->text == "the server closed the connection");
  CHECK(fake.count("EVALSHA") == 1);
}

TEST_CASE("before the first contact a failure is final, unless a wait was given") {
  const std::string nobody = "redis://127.0.0.1:" + std::to_string(free_port());
  const StopWatch watch;
  ExecutorFixture final{{nobody}};
  CHECK(final.vote(kCall).failure()->text == "connection refused");
  CHECK(watch.elapsed() < 1500ms);
  CHECK_FALSE(final.redis.keeps_trying());

  ExecutorFixture knocking{{nobody}, quick(true)};
  const Vote vote = knocking.vote(kCall, Milliseconds{500});
  CHECK(vote.failure()->text == "connection refused");
  CHECK(watch.elapsed() >= 500ms);
  CHECK(watch.elapsed() < 1900ms);
}

TEST_CASE("a server that comes up during the retries is found") {
  RedisServer server{{.tcp = true}};
  server.kill();
  ExecutorFixture f{{server.tcp_url()}, quick(true)};
  auto request = f.redis.post(kCall, kPersist, plus(Clock::now(), Milliseconds{5000}));
  CHECK_FALSE(turns(f.loop, [&] { return request.settled(); }, Milliseconds{300}));

  server.restart();
  const StopWatch watch;
  CHECK(turns(f.loop, [&] { return request.settled(); }));
  CHECK(request.votes().front().good_reply() != nullptr);
  CHECK(watch.elapsed() < 4s);
}

TEST_CASE("a connection with a late answer is abandoned, and an undo is sent on it") {
  RedisServer server;
  ExecutorFixture f{{server.url()}};
  REQUIRE(f.vote(kGet).reply());
  server.freeze();
  const StopWatch watch;

  const Vote vote = f.vote(command({"SET", "ghost", "1"}, "ghost"), Milliseconds{5000}, kOnce);
  CHECK(vote.failure()->text.find("no answer within") == 0);
  CHECK(watch.elapsed() < 4s);  // not the whole time that was left
  const Script erase{"test/erase", "0000000000000000000000000000000000000000",
                     "return redis.call('del', KEYS[1])"};
  f.redis.send_on_abandoned({{.script = &erase, .keys = {"ghost"}}});

  server.thaw();
  CHECK(eventually([&] { return contains(server.cli({"INFO", "commandstats"}), "cmdstat_del"); }));
  CHECK_FALSE(server.has("ghost"));
  CHECK(f.vote(kGet).reply());
}

TEST_CASE("a call that was never written cannot have been executed") {
  FakeRedis fake;
  fake.on("HELLO", wire::kSilence);
  ExecutorFixture f{{fake.url() + "?db=1"}};
  CHECK(f.vote(kCall, Milliseconds{100}).attempts == 0);
  CHECK(f.vote(kCall, Milliseconds{1000}, kOnce).attempts == 0);
  CHECK(fake.count("EVALSHA") == 0);

  ExecutorFixture hasty{{fake.url()}};  // the call goes out with the greeting
  CHECK(hasty.vote(kCall, Milliseconds{100}).attempts == 1);
}

TEST_CASE("an answer counts, even if its connection broke afterwards") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  fake.decide([](const Words& command) -> std::optional<std::string> {
    if (command.front() == "EVALSHA") return wire::integer(7) + ">1\r\n:1\r\n" + "garbage\r\n";
    return std::nullopt;
  });
  CHECK(f.vote(kCall, Milliseconds{1000}, kOnce).reply()->integer() == 7);
}

TEST_CASE("a late answer is never taken for another question's") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  CHECK(f.vote(command({"GET", "slow"}), Milliseconds{100}, kOnce).failure());

  fake.answer(wire::text("slow"));
  fake.answer(wire::text("quick"));
  CHECK(f.vote(command({"GET", "quick"}), Milliseconds{1000}).reply()->text() == "quick");
  CHECK(fake.connections() == 2);
}

TEST_CASE("the time of a command runs from the opening of its connection") {
  FakeRedis fake;
  fake.on("HELLO", wire::kSilence);
  ExecutorFixture f{{fake.url()}};
  auto request = f.redis.post(kCall, kOnce, plus(Clock::now(), Milliseconds{3000}));
  CHECK_FALSE(turns(f.loop, [&] { return request.settled(); }, Milliseconds{150}));
  fake.announce("%0\r\n");
  CHECK_FALSE(turns(f.loop, [&] { return request.settled(); }, Milliseconds{150}));
  fake.answer(wire::integer(1));
  CHECK(turns(f.loop, [&] { return request.settled(); }, Milliseconds{45}));
  CHECK(request.votes().front().good_reply() != nullptr);
}

TEST_CASE("a server that cannot answer now is asked again, and its last word is the reason") {
  for (
      const std::string error :
      {"LOADING Redis is loading the dataset in memory", "BUSY Redis is busy running a script",
       "MASTERDOWN Link with MASTER is down", "TRYAGAIN Multiple keys", "CLUSTERDOWN The cluster is down",
       "NOREPLICAS Not enough good replicas", "MISCONF Redis is configured to save",
       "OOM command not allowed when used memory > 'maxmemory'.",
       "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -OOM command not allowed"}) {
    CAPTURE(error);
    FakeRedis fake;
    ExecutorFixture f{{fake.url()}};
    fake.answer(wire::error(error));
    fake.answer(wire::error(error));
    fake.answer(wire::integer(1));
    const Vote answered = f.vote(kCall);
    CHECK(answered.good_reply() != nullptr);
    // A refused call has done nothing, so it does not count as a copy that the server may have executed.
    CHECK(answered.attempts == 1);

    fake.on("EVALSHA", wire::error(error));
    const std::size_t before = fake.count("EVALSHA");
    const Vote vote = f.vote(kCall, Milliseconds{500});
    REQUIRE(vote.failure());
    CHECK(vote.failure()->kind == Error::unreachable);
    CHECK(fake.count("EVALSHA") - before < 30);
    CHECK(contains(vote.failure()->text, error.substr(0, 4)));

    const Vote once = ExecutorFixture{{fake.url()}, kPatient}.vote(kCall, Milliseconds{30000}, kOnce);
    REQUIRE(once.reply());
    CHECK(once.reply()->is_error());
    CHECK(once.attempts == 0);
  }
}

TEST_CASE("an attempt that the deadline cuts short does not hide the server's earlier answer") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()},
                    {.timeouts = {.connect = Milliseconds{5000}, .command = Milliseconds{5000}}}};
  fake.decide([answered = false](const Words& command) mutable -> std::optional<std::string> {
    if (command.front() != "EVALSHA") return std::nullopt;
    return std::exchange(answered, true) ? "" : wire::error("LOADING Redis is loading the dataset in memory");
  });
  const Vote vote = f.vote(kCall, Milliseconds{900});
  REQUIRE(vote.failure());
  CHECK(fake.count("EVALSHA") == 2);
  CHECK_MESSAGE(contains(vote.failure()->text, "still loading"), vote.failure()->text);
}

TEST_CASE("a call to a program that is no Redis server was not carried out") {
  FakeRedis web;
  web.greet_with("HTTP/1.1 400 Bad Request\r\n\r\n");
  ExecutorFixture f{{web.url()}, kPatient};
  const Vote vote = f.vote(kCall, Milliseconds{30000}, kOnce);
  REQUIRE(vote.failure());
  CHECK(vote.failure()->lasts);
  CHECK(vote.attempts == 0);
}

TEST_CASE("a replica is left, and the next server behind the same name is tried") {
  const std::string readonly = "READONLY You can't write against a read only replica.";
  for (const std::string& error :
       {readonly, "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: -" + readonly}) {
    FakeRedis fake;
    ExecutorFixture f{{fake.url()}};
    fake.answer(wire::error(error));
    fake.answer(wire::integer(1));
    const Vote vote = f.vote(kCall);
    CHECK(vote.good_reply() != nullptr);
    CHECK(vote.attempts == 1);
    CHECK(fake.connections() == 2);
  }
}

TEST_CASE("other errors are the answer at once") {
  for (const std::string error :
       {"WRONGTYPE Operation against a key", "NOPERM no permissions", "ERR something else"}) {
    FakeRedis fake;
    ExecutorFixture f{{fake.url()}};
    fake.on("EVALSHA", wire::error(error));
    CHECK(f.vote(kCall).reply()->is_error());
    CHECK(fake.count("EVALSHA") == 1);
  }
}

TEST_CASE("a wrong password is final, also during retries") {
  RedisServer server{{.config = {"requirepass right"}}};
  Target target = parse_target(server.url());
  target.password = PasswordSource::fixed("wrong");
  Loop loop;
  Executor redis{loop, {target}, quick(true)};
  const StopWatch watch;

  const Votes votes = redis.run_all(kCall, kPersist, within(Milliseconds{3000}));
  CHECK(votes.front().failure()->kind == Error::denied);
  CHECK(watch.elapsed() < 2500ms);
}

TEST_CASE("all servers of a quorum are asked at once, and a silent one does not delay the votes of others") {
  RedisServer one, two, three;
  three.freeze();
  ExecutorFixture f{{one.url(), two.url(), three.url()}};
  CHECK(f.redis.quorum() == 2);
  const StopWatch watch;

  const Votes votes =
      f.redis.run(kCall, kOnce, within(Milliseconds{2000}), [](const Votes& so_far, TimePoint) {
        const auto answers =
            std::ranges::count_if(so_far, [](const Vote& vote) { return vote.good_reply() != nullptr; });
        return answers >= 2 ? TimePoint::min() : kNever;
      });
  CHECK(watch.elapsed() < 1500ms);
  CHECK(votes[0].good_reply() != nullptr);
  CHECK(votes[1].good_reply() != nullptr);
  CHECK_FALSE(votes[2].settled());
  three.thaw();
}

TEST_CASE("connections that are given away are silent if fewer than a quorum had answered") {
  RedisServer one, two, three;
  three.freeze();
  std::size_t answers = 2;
  SUBCASE("one of three is silent") {}
  SUBCASE("two of three are") {
    two.freeze();
    answers = 1;
  }
  ExecutorFixture f{{one.url(), two.url(), three.url()},
                    {.timeouts = {.connect = Milliseconds{60000}, .command = Milliseconds{60000}}}};
  const Redis::Request request = f.redis.post(kCall, kPersist, kNever);
  f.loop.wait(within(20s), [&] {
    return static_cast<std::size_t>(std::ranges::count_if(request.votes(), &Vote::settled)) == answers;
  });
  CHECK_FALSE(f.redis.given_away_silent());
  f.redis.give_away();
  CHECK(f.redis.given_away_silent() == (answers < 2));
  two.thaw();
  three.thaw();
}

TEST_CASE("two URLs of one server are the same server, also when the connection of one has broken") {
  RedisServer server;
  ExecutorFixture f{{server.url(), server.url()}};
  for (const Vote& vote : f.redis.run_all(kGet, kPersist, within(2s))) CHECK(vote.reply());
  CHECK(f.redis.same_server_twice());
  server.cli({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  REQUIRE(turns(f.loop, [&] { return f.redis.losses() == 2; }));
  CHECK(f.redis.same_server_twice());
}

TEST_CASE("after its deadline a call asks no server") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}};
  CHECK(f.vote(kCall, Milliseconds{0}).failure());
  const Votes votes = f.redis.run_all(kCall, kPersist, {.until = kNever, .interrupted = [] { return true; }});
  CHECK_FALSE(votes.front().settled());
}

TEST_CASE("WAIT goes to the connection that wrote, or to none") {
  RedisServer server;
  ExecutorFixture f{{server.url()}};
  const Vote written = f.vote(command({"SET", "k", "v"}, "k"));
  const Call wait = command({"WAIT", "0", "100"});
  const Delivery there{.only_connection = written.connection, .extra_time = Milliseconds{100}};
  CHECK(f.vote(wait, Milliseconds{2000}, there).reply()->integer() == 0);

  server.cli({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
  const Vote vote = f.vote(wait, Milliseconds{2000}, there);
  CHECK(vote.failure()->kind == Error::unreachable);
}

TEST_CASE("waiting for an answer, a server or a message does not keep the machine busy") {
  FakeRedis fake;
  ExecutorFixture f{{fake.url()}, {.timeouts = {}, .retry_first_contact = true}};
  f.redis.watch(Channel{"c"});
  auto request = f.redis.post(kCall, kPersist, plus(Clock::now(), Milliseconds{5000}));
  REQUIRE(turns(f.loop, [&] { return f.redis.wakeups() == 1; }));
  CHECK(wake_ups(f.loop, Milliseconds{200}) <= 2);
  request.drop();

  const std::string nobody = "redis://127.0.0.1:" + std::to_string(free_port());
  ExecutorFixture knocking{{nobody}, quick(true)};
  knocking.redis.watch(Channel{"c"});
  auto unheard = knocking.redis.post(kCall, kPersist, plus(Clock::now(), Milliseconds{5000}));
  CHECK(wake_ups(knocking.loop, Milliseconds{1000}) <= 40);
  CHECK_FALSE(unheard.settled());
}

TEST_CASE("errors are put into words with their kind") {
  const auto kind_of = [](const char* error) { return failure_of(Reply::error(error)).kind; };
  CHECK(kind_of("NOAUTH Authentication required.") == Error::denied);
  CHECK(kind_of("WRONGPASS invalid username-password pair") == Error::denied);
  CHECK(kind_of("NOPERM this user has no permissions") == Error::denied);
  CHECK(kind_of("ERR The user executing the script can't run this command or subcommand script: x") ==
        Error::denied);
  CHECK(kind_of("WRONGTYPE Operation against a key holding the wrong kind of value") == Error::wrong_type);
  CHECK(kind_of("CROSSSLOT Keys in request don't hash to the same slot") == Error::config);
  CHECK(kind_of("NOPERM ACL failure in script: User u has no permissions to run the 'del' command") ==
        Error::denied);
  CHECK(kind_of("ERR Error running script (call to f_0): @user_script:1: -NOPERM no permissions") ==
        Error::denied);
  CHECK(
      kind_of("ERR Error running script (call to f_0): @user_script:7: WRONGTYPE Operation against a key") ==
      Error::wrong_type);
  CHECK(kind_of("ERR Error running script") == Error::unreachable);
  CHECK(kind_of("ERR Error running script @user_script:") == Error::unreachable);
  CHECK(kind_of("LOADING Redis is loading the dataset in memory") == Error::unreachable);
}

TEST_CASE("a server that sends an error that rlock knows has answered") {
  const auto answered = [](const char* error) { return failure_of(Reply::error(error)).answered; };
  CHECK(answered("LOADING Redis is loading the dataset in memory"));
  CHECK(answered("NOPERM this user has no permissions"));
  CHECK(answered("ASK 449 127.0.0.1:7001"));
  CHECK(answered("ERR The user executing the script can't run this command or subcommand script: x"));
  CHECK(answered("ERR unknown command 'EVALSHA', with args beginning with:"));
  CHECK_FALSE(answered("ERR Error running script"));
}
