#include "sync/records/metadata.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include "base/ancestry.h"
#include "base/identity.h"
#include "support/direct.h"
#include "support/eventually.h"
#include "support/scene.h"
#include "support/usual_names.h"
#include "support/variable.h"
#include "sync/calls/record_json.h"
#include "sync/kinds/lock.h"
#include "sync/watch/inspect.h"

using namespace rlock;
using namespace rlock::test;

namespace {

Metadata facts() {
  Metadata facts;
  facts.host = "ci-7";
  facts.user = "alice";
  facts.command = "make";
  facts.pid = 4121;
  facts.reason = "hotfix \"42\"";
  facts.labels = {{"team", "core"}};
  facts.url = "https://ci.example/jobs/881";
  facts.holds = {{LockName{"a"}, Owner{"h:1"}}, {LockName{"b \"c\""}, Owner{"h:2"}}};
  return facts;
}

struct Described : Scene {
  void hold(const std::string& owner) {
    redis.run(Lock{{.name = kName, .owner = Owner{owner}, .lease = Milliseconds{30000}}}.ask());
  }
  Reply write(const Metadata& what, Milliseconds lease = Milliseconds{30000}) {
    return redis.run(write_metadata(kName, kMe, {kName.str(), kMe.str()}, lease, what));
  }
  std::optional<Metadata> read() {
    return parse_metadata(server.cli({"HGET", "rlock:meta:{deploy}", kMe.str()}));
  }
};

}  // namespace

TEST_CASE("the facts of a holder are read back, with the server's times") {
  Described scene;
  scene.hold("me:1");
  scene.write(facts());

  const auto read = scene.read();
  REQUIRE(read);
  CHECK(read->host == "ci-7");
  CHECK(read->user == "alice");
  CHECK(read->command == "make");
  CHECK(read->pid == 4121);
  CHECK(read->reason == "hotfix \"42\"");
  CHECK(read->labels.at("team") == "core");
  CHECK(read->url == facts().url);
  REQUIRE(read->holds.size() == 2);
  CHECK(read->holds.front().key == LockName{"a"});
  CHECK(read->holds.back().key == LockName{"b \"c\""});
  CHECK(read->holds.back().owner == Owner{"h:2"});
  CHECK(read->since.time_since_epoch().count() > 1600000000000);
  CHECK(read->renewed == read->since);
  CHECK(read->lease == Milliseconds{30000});
  CHECK_FALSE(read->ended_at);
  CHECK_FALSE(read->exit);
}

TEST_CASE("the memory of the facts of a holder is that of all their texts") {
  CHECK(bytes_of(Metadata{}) == 0);
  Metadata all = facts();
  const std::string texts = "ci-7alicemakehotfix \"42\"teamcore" + *all.url + "ah:1b \"c\"h:2";
  CHECK(bytes_of(all) == texts.size() + 2 * sizeof(OuterHold));
  all.type = "plain";
  all.pid_space = "4026531836";
  all.kept_by = "--min-hold";
  all.exit = 3;
  CHECK(bytes_of(all) == texts.size() + 2 * sizeof(OuterHold) + 25);
}

TEST_CASE("a renewal keeps `since` and moves `renewed`") {
  Described scene;
  scene.hold("me:1");
  scene.write(facts());
  const auto first = scene.read();
  const auto is_later = [&] {
    scene.write(facts());
    return scene.read()->renewed > first->renewed;
  };

  CHECK(eventually(is_later));
  CHECK(scene.read()->since == first->since);
}

TEST_CASE("the facts of a process that renews stay while it does, beside another hold of its owner") {
  Described scene;
  scene.hold("me:1");
  Metadata other = facts();
  other.pid = 7;
  other.renews = false;
  scene.write(other);
  scene.write(facts(), Milliseconds{20});
  scene.write(other);
  CHECK(scene.read()->renews);
  CHECK(scene.read()->pid == 4121);
  CHECK(scene.server.pttl("rlock:meta:{deploy}") > 29000);
  const auto are_over = [&] {
    scene.write(other);
    return !scene.read()->renews;
  };
  CHECK(eventually(are_over));
  CHECK(scene.read()->pid == 7);
}

TEST_CASE("the facts of an inner hold stand back as long as the hold around it keeps its own up") {
  Described scene;
  scene.hold("me:1");
  Metadata inner = facts();
  inner.pid = 7;
  const auto write_inner = [&] {
    return scene.redis
        .run(write_metadata(kName, kMe, {kName.str(), kMe.str()}, Milliseconds{30000}, inner, Hold::inner))
        .text();
  };
  const auto replaces = [&] { return write_inner() == "written" && scene.read()->pid == 7; };
  scene.write(facts());
  CHECK(write_inner() == "around");
  CHECK(scene.read()->pid == 4121);
  scene.write(facts(), Milliseconds{40});
  CHECK(eventually(replaces));
  CHECK(write_inner() == "written");  // they are its own now
  Metadata ended = facts();
  ended.exit = 0;
  scene.write(ended);
  CHECK(write_inner() == "around");
  CHECK(of_present_holder(*scene.read(), scene.read()->renewed + Milliseconds{30000}));
  CHECK_FALSE(of_present_holder(*scene.read(), scene.read()->renewed + Milliseconds{30001}));
  scene.write(ended, Milliseconds{40});
  CHECK(eventually(replaces));
  scene.server.del("rlock:meta:{deploy}");
  CHECK(replaces());
  inner.pid = facts().pid;  // in another container it may be the same number
  scene.write(facts());
  CHECK(write_inner() == "around");
}

TEST_CASE("the facts of an inner hold never replace those of a hold that no process renews") {
  Described scene;
  scene.hold("me:1");
  scene.server.cli(
      {"HSET", "rlock:meta:{deploy}", "me:1",
       R"({"since":1,"renewed":1,"lease_ms":1,"ended_at":null,"host":"h","pid":4121,"renews":false})"});
  Metadata inner = facts();
  inner.pid = 7;
  scene.redis.run(
      write_metadata(kName, kMe, {kName.str(), kMe.str()}, Milliseconds{30000}, inner, Hold::inner));
  CHECK(scene.read()->pid == 4121);
}

TEST_CASE("no facts are written for an owner that does not hold") {
  Described scene;
  scene.write(facts());
  CHECK(contents(scene.redis).empty());
  scene.hold("you:1");
  scene.write(facts());
  CHECK_FALSE(scene.server.has("rlock:meta:{deploy}"));
}

TEST_CASE("the entry is a field or a value") {
  Described scene;
  const auto written_about = [&](const HoldEntry& entry) {
    scene.server.del("rlock:meta:{deploy}");
    scene.redis.run(write_metadata(kName, kMe, entry, Milliseconds{30000}, facts()));
    return scene.server.has("rlock:meta:{deploy}");
  };
  scene.server.cli({"SET", "plain", "token"});

  CHECK(written_about({"plain", "token"}));
  CHECK_FALSE(written_about({"plain", "other"}));
  CHECK_FALSE(written_about({"absent", "token"}));
}

TEST_CASE("metadata stay as long as the longest holder may") {
  Described scene;
  scene.hold("me:1");
  scene.write(facts(), Milliseconds{30000});
  scene.write(facts(), Milliseconds{1000});
  CHECK(scene.server.pttl("rlock:meta:{deploy}") > 29000);
}

TEST_CASE("a hold that only --min-hold keeps says how its command ended, and when") {
  Described scene;
  scene.hold("me:1");
  Metadata ended = facts();
  ended.exit = 3;
  scene.write(ended);

  CHECK(scene.read()->exit == 3);
  CHECK(scene.read()->ended_at);
}

TEST_CASE("erasing metadata forgets this holder and no other") {
  Described scene;
  scene.server.cli({"HSET", "rlock:meta:{deploy}", "me:1", "{}", "you:1", "{}"});
  scene.redis.twice(erase_metadata(kName, kMe, {"deploy", "me:1"}));
  CHECK(contents(scene.redis) == "rlock:meta:{deploy} (stays) hash ['you:1', '{}']");
}

TEST_CASE("metadata of a holder that still holds are not erased") {
  Described scene;
  scene.hold("me:1");
  scene.write(facts());
  scene.redis.run(erase_metadata(kName, kMe, {"deploy", "me:1"}));
  CHECK(scene.read());
}

TEST_CASE("the facts of killed holders are removed if there are many") {
  Described scene;
  scene.hold("me:1");
  for (int i = 0; i < 20; ++i) {
    const std::string json = R"({"since":1,"renewed":1,"lease_ms":1000,"ended_at":null,"host":"dead"})";
    scene.server.cli({"HSET", "rlock:meta:{deploy}", "dead:" + std::to_string(i), json});
  }
  scene.write(facts());
  CHECK(scene.server.cli({"HKEYS", "rlock:meta:{deploy}"}) == "me:1");
}

TEST_CASE("metadata that follow an acquire are kept") {
  Described scene;
  const Lock lock{{.name = kName, .owner = kMe, .lease = Milliseconds{30000}}};
  scene.redis.run(lock.ask());
  scene.redis.run(write_metadata(kName, kMe, lock.hold_entry(), Milliseconds{30000}, facts()));
  CHECK(scene.read()->pid == 4121);
}

TEST_CASE("hostile metadata are read without harm") {
  for (const char* json :
       {"", "[]", "7", "null", "\"x\"", "{", "{\"host\":", "\xff\xfe", "{\"host\":\"\xff\"}"}) {
    CAPTURE(json);
    CHECK_FALSE(parse_metadata(json));
  }
  CHECK_FALSE(parse_metadata(std::string(100000, '[')));
  CHECK_FALSE(parse_metadata("{\"host\":\"" + std::string(100000, 'x') + "\"}"));

  const auto odd = parse_metadata(
      R"({"host":7,"pid":"x","user":{},"since":-5,"renewed":1e300,"lease_ms":99999999999999999999,"labels":{"a":1,"b":"c"},)"
      R"("reason":[],"exit":4000,"ended_at":18446744073709551615,"command":"m\u0000k"})");
  REQUIRE(odd);
  CHECK(odd->host.empty());
  CHECK(odd->pid == 0);
  CHECK(odd->since == ServerTime{});
  CHECK(odd->renewed == ServerTime{});
  CHECK(odd->lease.count() == 0);
  CHECK(odd->labels.size() == 1);
  CHECK_FALSE(odd->reason);
  CHECK_FALSE(odd->exit);
  CHECK_FALSE(odd->ended_at);
}

TEST_CASE("texts that are no UTF-8, or too long, do not stop the metadata") {
  Metadata odd = facts();
  odd.reason = "\xff" + std::string(5000, 'x');
  Described scene;
  scene.hold("me:1");
  scene.write(odd);
  REQUIRE(scene.read());
  CHECK(scene.read()->reason->size() < 1100);
}

TEST_CASE("a command is named without its folder, and the CI job by its address") {
  const Variable job{"CI_JOB_URL", "https://ci.example/jobs/881"};
  const Metadata ours = about_us("/opt/tools/make");
  CHECK(ours.command == "make");
  CHECK(ours.url == "https://ci.example/jobs/881");
  CHECK(ours.pid == ::getpid());
  CHECK(ours.host == host_name());
  CHECK(ours.user == user_name());
  CHECK(ours.started == process_of(::getpid())->started);
  CHECK(ours.pid_space == pid_space());

  const Variable no_job{"CI_JOB_URL", std::nullopt};
  const Variable server{"GITHUB_SERVER_URL", "https://github.example"};
  const Variable repository{"GITHUB_REPOSITORY", "a/b"}, run{"GITHUB_RUN_ID", "12"};
  CHECK(about_us("make").url == "https://github.example/a/b/actions/runs/12");
  for (const char* missing : {"GITHUB_RUN_ID", "GITHUB_SERVER_URL"}) {
    const Variable none{missing, std::nullopt};
    CHECK(about_us("make").url == std::nullopt);
  }
}

TEST_CASE("facts name a process above us only if host, boot, number and start are those of that process") {
  Metadata parent = about_us("make");
  CHECK_FALSE(names_ancestor(parent));  // these are still our own facts
  parent.pid = ::getppid();
  const auto process = process_of(parent.pid);
  REQUIRE(process);
  parent.started = process->started;
  CHECK(names_ancestor(parent));
  Metadata other = parent;
  other.host = "another";
  CHECK_FALSE(names_ancestor(other));
  other = parent;
  other.pid_space = "another";
  CHECK_FALSE(names_ancestor(other));
  other = parent;
  other.started = process->started + 1;
  CHECK_FALSE(names_ancestor(other));
  other.started.reset();
  CHECK_FALSE(names_ancestor(other));
}

TEST_CASE("among the facts of a crowd, those of the holders and of a latch are found") {
  Described scene;
  scene.hold("me:1");
  scene.write(facts());
  scene.server.cli({"HSET", "rlock:meta:{deploy}", "latch", R"({"total":3,"opened":null})"});
  scene.server.cli({"EVAL", "for i = 1, 5001 do redis.call('hset', KEYS[1], 'dead:' .. i, '{}') end", "1",
                    "rlock:meta:{deploy}"});
  const KnownFacts known = read_facts(scene.redis.run(ask_facts(kName)));
  CHECK(known.facts.size() == 1);
  CHECK(known.facts.at(kMe).host == "ci-7");
  CHECK(known.latch);
}

TEST_CASE("facts that are too much for one reply are left out") {
  Described scene;
  scene.hold("me:1");
  scene.server.cli({"EVAL", "for i = 1, 100 do redis.call('hset', KEYS[1], i, string.rep('x', 60000)) end",
                    "1", "rlock:meta:{deploy}"});
  CHECK(scene.redis.run(ask_facts(kName)).items().size() == 2 * 50);
}

TEST_CASE("another value in the place of the facts counts as no facts, and is no error") {
  Described scene;
  scene.hold("me:1");
  scene.server.cli({"SET", "rlock:meta:{deploy}", "theirs"});
  const Reply nothing = scene.redis.run(ask_facts(kName));
  REQUIRE(nothing.kind() == Reply::Kind::array);
  CHECK(nothing.items().empty());
}

TEST_CASE("if waiters have long facts, only the first waiters are shown with their facts") {
  Described scene;
  scene.hold("me:1");
  scene.server.cli({"EVAL",
                    "for i = 1, 40 do local owner = string.format('%02d:1', i) "
                    "redis.call('zadd', KEYS[1], i, owner) "
                    "redis.call('hset', KEYS[2], owner, '9999999999999 1700000000000000 1 0 0') "
                    "redis.call('hset', KEYS[3], owner, string.rep('x', 60000)) end",
                    "3", "redisson_unlock_latch:{deploy}:line", "redisson_unlock_latch:{deploy}:line:waiters",
                    "redisson_unlock_latch:{deploy}:line:facts"});
  const Reply content = scene.redis.run(inspect_key(kName, {}));
  REQUIRE(content.kind() == Reply::Kind::array);
  const std::vector<Reply> living = content.at(9).items();
  REQUIRE(living.size() == 4 * 40);
  std::size_t with_facts = 0;
  for (std::size_t i = 3; i < living.size(); i += 4) with_facts += living[i].text().empty() ? 0 : 1;
  CHECK(with_facts == 17);  // the entry that exceeds a million bytes is the last one with facts
}

TEST_CASE("the facts of a waiter have a TTL, or are not written") {
  Described scene;
  scene.hold("other:1");
  const Lock lock{{.name = kName, .owner = kMe, .lease = Milliseconds{30000}, .if_busy = IfBusy::place}};
  scene.redis.run(lock.ask());
  const Call write = write_metadata(kName, kMe, lock.hold_entry(), Milliseconds{30000}, facts());
  const std::string place = "redisson_unlock_latch:{deploy}:line:facts";

  scene.redis.run(command({"ACL", "SETUSER", "half", "on", "nopass", "~*", "&*", "+@all", "-pexpire"}));
  Direct half{scene.server};
  half.run(command({"AUTH", "half", "x"}));
  CHECK(half.run(write).is_error());
  CHECK_FALSE(scene.server.has(place));

  CHECK(scene.redis.run(write).text() == "written");
  CHECK(scene.server.pttl(place) > 0);
}

TEST_CASE("the text of an object has the bytes that nlohmann/json gives it") {
  const std::vector<std::string> texts{
      "", "a b", "\"", "\"q\" \\ /", "a\nb\t\x01\x1f", "\x7f", "\u00e9\u2014\U0001F600"};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CHECK(as_json(text) == RecordJson(text).dump());
    const RecordJson tree{{text, text}, {"n", -5}, {"yes", true}, {"none", nullptr}, {"some", 7}};
    CHECK(JsonObject{}
              .add(text, text)
              .add("n", -5)
              .add("yes", true)
              .add("none", std::optional<int>{})
              .add("some", std::optional<int>{7})
              .str() == tree.dump());
  }
  CHECK(JsonObject{}.str() == "{}");
}

TEST_CASE("what is no hold in the facts is left out, and of many holds only the innermost are written") {
  const auto holds = [](const std::string& json) {
    return parse_metadata(R"({"holds":)" + json + "}")->holds;
  };
  for (const char* odd : {"7", "{}", "[7]", R"(["ab"])", R"([["a"]])", R"([["a","b","c"]])", R"([["a",1]])",
                          R"([[1,"b"]])", R"([{"a":"b"}])"}) {
    CAPTURE(odd);
    CHECK(holds(odd).empty());
  }
  CHECK(holds(R"([["a","h:1"]])").size() == 1);
  std::string many = "[";
  for (int i = 0; i < 17; ++i) many += std::string(i > 0 ? "," : "") + R"(["a","h:1"])";
  CHECK(holds(many + "]").size() == 16);

  Metadata deep = facts();
  deep.holds.clear();
  for (int i = 0; i < 20; ++i) deep.holds.push_back({LockName{"k" + std::to_string(i)}, kMe});
  const Call write = write_metadata(kName, kMe, {kName.str(), kMe.str()}, Milliseconds{30000}, deep);
  std::vector<OuterHold> written;
  for (const std::string& arg : write.args)
    if (arg.starts_with("{")) written = parse_metadata(arg)->holds;
  REQUIRE(written.size() == 16);
  CHECK(written.front().key == LockName{"k4"});
  CHECK(written.back().key == LockName{"k19"});
}

TEST_CASE("facts are read back as they were written, and what is unknown stays unknown") {
  const auto again = [](const Metadata& facts) {
    const Call write = write_metadata(kName, kMe, {kName.str(), kMe.str()}, Milliseconds{30000}, facts);
    for (const std::string& arg : write.args)
      if (arg.starts_with("{")) return *parse_metadata(arg);
    return Metadata{};
  };
  Metadata all = facts();
  all.type = "fair";
  all.kept_by = "--min-hold";
  all.first_lease = 5min;
  all.started = 17;
  all.pid_space = "space";
  all.kill_after = Milliseconds{5000};
  all.renews = false;
  all.exit = 255;
  const Metadata read = again(all);
  CHECK(read.type == "fair");
  CHECK(read.kept_by == "--min-hold");
  CHECK(read.first_lease == 5min);
  CHECK(read.started == 17);
  CHECK(read.pid_space == "space");
  CHECK(read.kill_after == Milliseconds{5000});
  CHECK_FALSE(read.renews);
  CHECK(read.exit == 255);

  const Metadata none = again({});
  CHECK(none.type.empty());
  CHECK(none.kept_by.empty());
  CHECK_FALSE(none.first_lease);
  CHECK_FALSE(none.started);
  CHECK(none.pid_space.empty());
  CHECK_FALSE(none.kill_after);
  CHECK(none.renews);
  CHECK_FALSE(none.exit);
  CHECK_FALSE(none.reason);
  CHECK_FALSE(none.url);
  CHECK(none.holds.empty());
  CHECK(none.labels.empty());
}

TEST_CASE("only a whole number up to 2^53 is a number, and only up to 255 an exit status") {
  const auto pid = [](const std::string& json) { return parse_metadata(R"({"pid":)" + json + "}")->pid; };
  CHECK(pid("9007199254740992") == 9007199254740992);
  CHECK(pid("9007199254740993") == 0);
  CHECK(pid("0") == 0);
  CHECK(pid("-1") == 0);
  CHECK(pid("1.5") == 0);
  CHECK(pid("\"7\"") == 0);
  CHECK_FALSE(parse_metadata(R"({"exit":256})")->exit);
  CHECK(parse_metadata(R"({"exit":0})")->exit == 0);
  CHECK(parse_metadata(R"({"renews":0})")->renews);
}
