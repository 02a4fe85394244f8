// Compares the store of the explorer with a real server, by the same commands and calls. If the store
// answered differently, the explorer would prove nothing.

#include "model/store.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <deque>
#include <memory>

#include "model/hold.h"
#include "model/interpreter.h"
#include "support/dice.h"
#include "support/direct.h"
#include "support/profile.h"
#include "support/redis_server.h"

using namespace rlock;
using namespace rlock::model;
using test::Dice;
using test::Direct;
using test::RedisServer;

namespace {

/// Runs the script's source in a function, and returns the result with the server's time, so that the store
/// can use the same time.
struct Timed {
  std::string source;
  Script script;

  explicit Timed(std::string_view body)
      : source("local function body() " + std::string{body} +
               "\nend\nlocal time = redis.call('time')\nreturn {time[1], time[2], body()}"),
        script{.name = "timed", .sha1 = "", .source = source} {}
};

/// A server and a store with the same history.
struct Pair {
  RedisServer server{};
  Direct redis{server};
  Interpreter lua{};
  Store store{0};
  std::map<const Script*, Timed> timed{};

  /// The answers of both.
  std::pair<Reply, Reply> run(const Call& call) {
    const Timed& body = timed.try_emplace(call.script, call.script->source).first->second;
    const Reply real = redis.run({.script = &body.script, .keys = call.keys, .args = call.args});
    CAPTURE(test::written(real));
    REQUIRE(real.kind() == Reply::Kind::array);
    const std::int64_t micros = std::stoll(real.at(0).text()) * 1'000'000 + std::stoll(real.at(1).text());
    store.advance_to(micros / 1000, micros % 1000);
    const Reply model = lua.run({.script = &body.script, .keys = call.keys, .args = call.args}, store);
    return {real.at(2), model.at(2)};
  }
};

/// Are the texts the same? Numbers as large as a time may differ by the moment between both calls.
bool alike(std::string_view one, std::string_view other) {
  constexpr long long kLarge = 100, kMoment = 100, kMomentInMicros = 100'000;
  const auto number_at = [](std::string_view& text) {
    std::size_t size = 0;
    while (size < text.size() && std::isdigit(static_cast<unsigned char>(text[size])) != 0 && size < 18)
      ++size;
    const long long number = size == 0 ? -1 : std::stoll(std::string{text.substr(0, size)});
    text.remove_prefix(size);
    return number;
  };
  while (!one.empty() && !other.empty()) {
    const long long a = number_at(one), b = number_at(other);
    const long long moment = a > 1'000'000'000'000'000 ? kMomentInMicros : kMoment;
    if (a != b && (a < kLarge || b < kLarge || std::abs(a - b) > moment)) return false;
    if (a >= 0) continue;
    if (one.front() != other.front()) return false;
    one.remove_prefix(1);
    other.remove_prefix(1);
  }
  return one.empty() && other.empty();
}

/// The reply as text; of an error only the first word, because servers differ in the rest.
std::string reply_text(const Reply& reply) {
  const std::string text = test::written(reply);
  return reply.is_error() ? text.substr(0, text.find(' ')) : text;
}

constexpr Script kCommand{.name = "command", .sha1 = "", .source = "return redis.pcall(unpack(ARGV))"};

/// A command that scripts use, on few keys, so that commands meet the results of others.
Words random_command(Dice& dice) {
  static const Words keys{"a", "b", "c"}, fields{"f", "g", "h"}, numbers{"0", "1", "-1", "2", "7"};
  static const Words bounds{"-inf", "+inf", "(1", "2", "(7", "0"};
  const std::string key = dice.pick(keys), field = dice.pick(fields), number = dice.pick(numbers);
  const std::string other = dice.pick(numbers);
  static const std::vector<std::string> ttls{"100000", "200000", "-1", "0", "1.5"};
  const std::vector<Words> commands{
      {"del", key},
      {"unlink", key},
      {"exists", key, dice.pick(keys)},
      {"type", key},
      {"pttl", key},
      {"pexpire", key, dice.pick(ttls)},
      {"set", key, number},
      {"set", key, field, "px", dice.pick(ttls)},
      {"set", key, field, "px", dice.pick(ttls), "nx"},
      {"set", key, field, "xx"},
      {"get", key},
      {"strlen", key},
      {"getrange", key, number, other},
      {"incr", key},
      {"incrby", key, number},
      {"decr", key},
      {"decrby", key, number},
      {"hset", key, field, number},
      {"hset", key, field, field, dice.pick(fields), number},
      {"hsetnx", key, field, number},
      {"hget", key, field},
      {"hexists", key, field},
      {"hstrlen", key, field},
      {"hmget", key, field, dice.pick(fields)},
      {"hlen", key},
      {"hkeys", key},
      {"hgetall", key},
      {"hscan", key, "0", "count", "100"},
      {"hdel", key, field, dice.pick(fields)},
      {"hincrby", key, field, number},
      {"rpush", key, field, dice.pick(fields)},
      {"lpush", key, field},
      {"lpop", key},
      {"llen", key},
      {"lrange", key, number, other},
      {"lindex", key, number},
      {"lpos", key, field},
      {"lrem", key, "0", field},
      {"zadd", key, number, field},
      {"zadd", key, "1700000000123", field, "1700000000123456", dice.pick(fields)},
      {"zincrby", key, number, field},
      {"zcard", key},
      {"zscore", key, field},
      {"zrange", key, number, other},
      {"zrange", key, number, other, "withscores"},
      {"zcount", key, dice.pick(bounds), dice.pick(bounds)},
      {"zrangebyscore", key, dice.pick(bounds), dice.pick(bounds)},
      {"zremrangebyscore", key, dice.pick(bounds), dice.pick(bounds)},
      {"zrem", key, field, dice.pick(fields)},
      {"publish", "nobody", "0"},
      {"publish", "heard", "0"},
  };
  return dice.pick(commands);
}

}  // namespace

TEST_CASE("the store answers each command as a server does") {
  Pair both;
  Direct listener{both.server};
  listener.run(command({"SUBSCRIBE", "heard"}));
  both.store.listen(0, "heard");
  Dice dice{1};
  for (int round = 0; round < (test::long_profile() ? 200'000 : 5000); ++round) {
    const Words words = random_command(dice);
    const auto [real, model] = both.run({.script = &kCommand, .keys = {}, .args = words});
    CAPTURE(round);
    CAPTURE(words.front());
    CAPTURE(reply_text(real));
    CAPTURE(reply_text(model));
    REQUIRE(alike(reply_text(real), reply_text(model)));
    if (round % 40 == 0) both.run({.script = &kCommand, .keys = {}, .args = {"del", "a", "b", "c"}});
  }
}

TEST_CASE("the scripts have the same results over the store as on a server") {
  for (const std::string type :
       {"lock", "fenced", "fair", "read", "write", "plain", "permit", "semaphore", "latch"}) {
    CAPTURE(type);
    Pair both;
    if (type == "semaphore" || type == "latch")
      both.run({.script = &kCommand, .keys = {}, .args = {"set", "k", "2"}});
    Direct listener{both.server};
    std::vector<std::shared_ptr<const model::Hold>> holds;
    for (const std::string owner : {"a:1", "b:1", "c:1"}) {
      for (const bool again : {false, true})
        holds.push_back(make_hold({type, {"k"}, owner, 30000, again, false}));
      const bool has_other = type == "read" || type == "write" || type == "latch";
      const std::string other = type == "read" ? "write" : type == "write" ? "read" : "down";
      holds.push_back(make_hold({has_other ? other : type, {"k"}, owner}));
      if (owner == "c:1") continue;  // it is dead, so it does not listen
      for (const std::string& channel : holds[0]->channels({})) {
        listener.run(command({"SUBSCRIBE", channel + ":" + owner}));
        both.store.listen(static_cast<int>(holds.size()), channel + ":" + owner);
      }
    }
    Dice dice{2};
    std::deque<Call> before;
    for (int round = 0; round < (test::long_profile() ? 20'000 : 600); ++round) {
      const model::Hold& hold = *dice.pick(holds);
      const std::vector<std::vector<Call>> choices{{hold.ask(0)}, {hold.ask(700)},
                                                   hold.renew(),  hold.release(0),
                                                   hold.undo(),   hold.release(both.store.now() + 5000)};
      const auto& chosen = dice.pick(choices);
      Call call = chosen.empty() ? hold.ask(0) : chosen.front();
      if (!before.empty() && dice.below(4) == 0) call = dice.pick(before);  // a late copy
      before.push_back(call);
      if (before.size() > 10) before.pop_front();

      const auto [real, model] = both.run(call);
      CAPTURE(round);
      CAPTURE(call.script->name);
      CAPTURE(reply_text(real));
      CAPTURE(reply_text(model));
      REQUIRE(alike(reply_text(real), reply_text(model)));
    }
  }
}
