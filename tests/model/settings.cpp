#include "settings.h"

#include <fmt/format.h>

#include <tuple>

namespace rlock::model {
namespace {

constexpr std::int64_t kLease = 30000;

struct Options {
  std::int64_t lease = kLease;
  int inside = -1;
  bool again = false;
  bool returns = false;
  bool once = false;
  bool newest = false;
  bool strict = false;
  std::int64_t count = 1;
  int holds = 1;  ///< number of holds, one after the other, with one owner
  std::vector<std::string> keys{"k"};
};

ClientPlan rlock(const std::string& name, const std::string& type, const std::string& owner,
                 const Options& options = {}) {
  ClientPlan plan{.name = name,
                  .type = type,
                  .holds = {},
                  .lease = options.lease,
                  .owner = owner,
                  .inside = options.inside};
  for (int i = 0; i < options.holds; ++i)
    plan.holds.push_back(make_hold({.type = type,
                                    .keys = options.keys,
                                    .owner = owner,
                                    .lease = options.lease,
                                    .again = options.again,
                                    .returns = options.returns,
                                    .once = options.once,
                                    .newest = options.newest,
                                    .count = options.count}));
  plan.strict = options.strict;
  plan.count = options.count;
  plan.once = options.once;
  plan.newest = options.newest;
  return plan;
}

ClientPlan redisson(const std::string& name, const std::string& type, bool classic = false) {
  const Wanted wanted{
      .type = type, .keys = {"k"}, .owner = "java:" + name, .lease = kLease, .classic = classic};
  return {.name = name,
          .type = type,
          .holds = {make_redisson_hold(wanted)},
          .lease = kLease,
          .owner = wanted.owner,
          .classic = classic};
}

/// An outer hold, and an inner one with another lease.
std::vector<ClientPlan> nested(const std::string& type, std::int64_t inner_lease, bool once = false) {
  return {rlock("outer", type, "me:1", {.once = once}),
          rlock("inner", type, "me:1", {.lease = inner_lease, .inside = 0, .again = true})};
}

std::string other_than(const std::string& type) { return type == "read" ? "write" : type; }

/// Settings of one type that are small enough to be explored to the end.
void add_small(std::vector<Setting>& settings, const std::string& type) {
  const std::vector<ClientPlan> two{rlock("a", type, "a:1"), rlock("b", other_than(type), "b:1")};
  settings.push_back({.name = type + "-two", .clients = two, .keys = {"k"}, .faults = 1});
  settings.push_back(
      {.name = type + "-two-crash", .clients = two, .keys = {"k"}, .crashes = 1, .gives_up = false});
  for (const std::int64_t inner : {kLease, 2 * kLease}) {
    settings.push_back({.name = fmt::format("{}-nested-{}s", type, inner / 1000),
                        .clients = nested(type, inner),
                        .keys = {"k"},
                        .faults = 1});
  }
  settings.push_back(
      {.name = type + "-same-owner",
       .clients = {rlock("a", type, "a:1", {.returns = true, .holds = 2}), rlock("b", type, "b:1")},
       .keys = {"k"},
       .faults = 1,
       .gives_up = false});
}

/// The key stays for a while after the release.
void add_min_hold(std::vector<Setting>& settings, const std::string& type) {
  std::vector<ClientPlan> clients{rlock("a", type, "a:1"), rlock("b", type, "b:1")};
  for (ClientPlan& one : clients) one.min_hold = 5000;
  settings.push_back({.name = type + "-min-hold", .clients = clients, .keys = {"k"}, .faults = 1});
}

/// The outer hold, which must keep the key, ends before the inner one.
void add_min_hold_nested(std::vector<Setting>& settings, const std::string& type) {
  for (const bool once : {false, true}) {
    if (once && (type == "read" || type == "write")) continue;  // --once-per refuses them
    std::vector<ClientPlan> clients = nested(type, kLease, once);
    clients.front().min_hold = 2 * kLease;
    settings.push_back({.name = type + (once ? "-once-nested" : "-min-hold-nested"),
                        .clients = clients,
                        .keys = {"k"},
                        .faults = 1,
                        .renewals = 0,
                        .gives_up = false});
  }
}

/// Two inner holds at once, in any order.
void add_siblings(std::vector<Setting>& settings, const std::string& type) {
  std::vector<ClientPlan> clients = nested(type, kLease);
  clients.push_back(rlock("sibling", type, "me:1", {.inside = 0, .again = true}));
  settings.push_back({.name = type + "-siblings",
                      .clients = clients,
                      .keys = {"k"},
                      .faults = 1,
                      .renewals = 0,
                      .gives_up = false});
}

/// A line in which all waiters move up, and one of them dies when it has come to the head.
void add_heads(std::vector<Setting>& settings, const std::string& type) {
  // The third has a long lease, so it asks seldom while it is not first.
  const std::vector<ClientPlan> three{rlock("a", type, "a:1"), rlock("b", type, "b:1"),
                                      rlock("c", type, "c:1", {.lease = 10 * kLease})};
  settings.push_back({.name = type + "-heads",
                      .clients = three,
                      .keys = {"k"},
                      .crashes = 1,
                      .renewals = 0,
                      .gives_up = true});
}

/// The server breaks its promises: its clock jumps, or keys vanish.
void add_broken_word(std::vector<Setting>& settings, const std::string& type) {
  constexpr std::int64_t kJump = 600000;
  const std::vector<ClientPlan> three{rlock("a", type, "a:1"), rlock("b", other_than(type), "b:1"),
                                      rlock("c", type, "c:1")};
  // A client may have died as the head of a queue before a client with the same owner returns.
  const std::vector<ClientPlan> two{rlock("a", type, "a:1", {.returns = true, .holds = 2}),
                                    rlock("b", other_than(type), "b:1")};
  for (const auto& [name, clients, crashes] : {std::tuple{"", three, 0}, std::tuple{"-crash", two, 1}})
    for (const std::int64_t jump : {-kJump, kJump})
      settings.push_back({.name = fmt::format("{}-set-{}{}", type, jump < 0 ? "back" : "ahead", name),
                          .clients = clients,
                          .keys = {"k"},
                          .crashes = crashes,
                          .renewals = 0,
                          .gives_up = false,
                          .jump = jump});
  settings.push_back({.name = type + "-vanishes",
                      .clients = three,
                      .keys = {"k"},
                      .renewals = 0,
                      .gives_up = false,
                      .losses = 1});
}

/// Keys vanish while five wait. Only the first two ask soon by themselves, so the others depend on a message.
void add_lost_line(std::vector<Setting>& settings, const std::string& type) {
  std::vector<ClientPlan> many;
  for (const std::string name : {"a", "b", "c", "d", "e", "f"})
    many.push_back(rlock(name, name == "f" ? other_than(type) : type, name + ":1"));
  settings.push_back({.name = type + "-line-vanishes",
                      .clients = many,
                      .keys = {"k"},
                      .renewals = 0,
                      .gives_up = false,
                      .walks = true,
                      .losses = 1});
}

/// A client that asks several servers, in this many rounds. `stays`: it has the same owner in each round, and not a new
/// one.
ClientPlan contender(const std::string& name, const std::string& type, bool stays, int rounds) {
  ClientPlan plan{.name = name, .type = type, .holds = {}, .lease = kLease, .owner = name, .stays = stays};
  for (int round = 1; round <= rounds; ++round)
    plan.holds.push_back(make_hold({.type = type,
                                    .keys = {"k"},
                                    .owner = stays ? name + ":1" : fmt::format("{}:{}", name, round),
                                    .lease = kLease,
                                    .returns = stays,
                                    .quorum = true}));
  return plan;
}

/// Settings with several servers. Of two, both are needed, and these settings are small enough to be explored to the
/// end. Of three, two are enough.
void add_quorum(std::vector<Setting>& settings, const std::string& type) {
  for (const bool stays : {true, false}) {
    const std::string whose = stays ? "same-owner" : "new-owner";
    const auto two = [&](int rounds_of_a, int rounds_of_b) {
      return std::vector<ClientPlan>{contender("a", type, stays, rounds_of_a),
                                     contender("b", other_than(type), stays, rounds_of_b)};
    };
    settings.push_back(
        {.name = type + "-both-" + whose, .clients = two(2, 1), .keys = {"k"}, .faults = 1, .nodes = 2});
    settings.push_back({.name = type + "-quorum-" + whose,
                        .clients = two(4, 3),
                        .keys = {"k"},
                        .faults = 3,
                        .walks = true,
                        .nodes = 3});
  }
}

/// A replica takes the place of the server. Every client uses --sync-replicas, so the replica must have its lock.
void add_failover(std::vector<Setting>& settings, const std::string& type) {
  std::vector<ClientPlan> clients{rlock("a", type, "a:1", {.strict = true}),
                                  rlock("b", other_than(type), "b:1", {.strict = true})};
  settings.push_back(
      {.name = type + "-failover", .clients = clients, .keys = {"k"}, .gives_up = false, .failovers = 1});
  clients.push_back(rlock("c", type, "c:1", {.strict = true}));
  settings.push_back({.name = type + "-failover-many",
                      .clients = clients,
                      .keys = {"k"},
                      .faults = 2,
                      .crashes = 1,
                      .walks = true,
                      .failovers = 1});
}

/// An operator removes the lock, whoever holds it. The call may come late.
void add_force(std::vector<Setting>& settings, const std::string& type) {
  ClientPlan by_force = rlock("operator", "force " + type, "operator:1");
  by_force.type = type;
  settings.push_back({.name = type + "-force",
                      .clients = {rlock("a", type, "a:1"), rlock("b", other_than(type), "b:1"), by_force},
                      .keys = {"k"},
                      .faults = 1,
                      .renewals = 0,
                      .gives_up = false});
  std::vector<ClientPlan> deep = nested(type, kLease);
  deep.push_back(by_force);
  settings.push_back(
      {.name = type + "-force-nested", .clients = deep, .keys = {"k"}, .faults = 1, .renewals = 0});
}

/// Some clients want both permits of the pool, and others one.
void add_counts(std::vector<Setting>& settings) {
  std::vector<ClientPlan> clients{rlock("a", "permit", "a:1", {.count = 2}), rlock("b", "permit", "b:1"),
                                  rlock("c", "permit", "c:1")};
  settings.push_back(
      {.name = "permit-counts", .clients = clients, .keys = {"k"}, .faults = 1, .renewals = 0});
  settings.push_back(
      {.name = "permit-counts-crash", .clients = clients, .keys = {"k"}, .crashes = 1, .gives_up = false});
  clients.push_back(rlock("d", "permit", "d:1", {.count = 2}));
  settings.push_back({.name = "permit-counts-many",
                      .clients = clients,
                      .keys = {"k"},
                      .faults = 3,
                      .crashes = 1,
                      .walks = true});
}

/// One client waits while two others come again and again.
void add_patience(std::vector<Setting>& settings, const std::string& type) {
  const std::vector<ClientPlan> clients{rlock("a", type, "a:1", {.holds = 30}),
                                        rlock("b", type, "b:1", {.holds = 30}),
                                        rlock("patient", type, "c:1")};
  settings.push_back({.name = type + "-patience",
                      .clients = clients,
                      .keys = {"k"},
                      .renewals = 0,
                      .gives_up = false,
                      .walks = true,
                      .counts_passes = true});
}

/// Settings with Redisson's clients.
void add_redisson(std::vector<Setting>& settings, const std::string& type) {
  settings.push_back({.name = type + "-redisson",
                      .clients = {rlock("a", type, "a:1"), redisson("java", other_than(type))},
                      .keys = {"k"},
                      .faults = 1});
  if (type == "fair")
    settings.push_back({.name = type + "-redisson-classic",
                        .clients = {rlock("a", type, "a:1"), rlock("b", type, "b:1"),
                                    redisson("java", type, true), redisson("other-java", type, true)},
                        .keys = {"k"},
                        .walks = true});
  settings.push_back({.name = type + "-redisson-many",
                      .clients = {rlock("a", type, "a:1"), rlock("b", type, "b:1"), redisson("java", type),
                                  redisson("other-java", other_than(type))},
                      .keys = {"k"},
                      .faults = 2,
                      .walks = true});
}

/// Settings that are too large to be explored to the end.
void add_large(std::vector<Setting>& settings, const std::string& type) {
  std::vector<ClientPlan> many{rlock("a", type, "a:1"), rlock("b", type, "b:1"),
                               rlock("c", other_than(type), "c:1"), rlock("d", other_than(type), "d:1")};
  settings.push_back(
      {.name = type + "-many", .clients = many, .keys = {"k"}, .faults = 3, .crashes = 1, .walks = true});
  std::vector<ClientPlan> deep = nested(type, 2 * kLease);
  deep.push_back(rlock("innermost", type, "me:1", {.inside = 1, .again = true}));
  deep.push_back(rlock("b", other_than(type), "b:1"));
  deep.push_back(rlock("c", type, "c:1"));
  settings.push_back({.name = type + "-deep",
                      .clients = deep,
                      .keys = {"k"},
                      .faults = 3,
                      .crashes = 1,
                      .renewals = 2,
                      .walks = true});
}

/// Several keys, acquired all or none.
void add_several(std::vector<Setting>& settings, const std::string& type) {
  const std::vector<std::string> keys{"{t}k", "{t}l"};
  std::vector<ClientPlan> clients{rlock("both", type, "a:1", {.keys = keys}),
                                  rlock("one", type, "b:1", {.keys = {keys[0]}}),
                                  rlock("other", type, "c:1", {.keys = {keys[1]}})};
  settings.push_back(
      {.name = type + "-several", .clients = clients, .keys = keys, .faults = 2, .walks = true});
  clients[1] = rlock("both-too", type, "b:1", {.keys = {keys[1], keys[0]}});
  settings.push_back({.name = type + "-several-crash",
                      .clients = clients,
                      .keys = keys,
                      .faults = 1,
                      .crashes = 1,
                      .walks = true});
}

/// Some clients use --newest, and one does not.
void add_newest(std::vector<Setting>& settings, const std::string& type) {
  const auto newest = [&](const std::string& name) {
    return rlock(name, type, name + ":1", {.newest = true});
  };
  const std::vector<ClientPlan> two{newest("a"), newest("b")};
  std::vector<ClientPlan> some{newest("a"), newest("b"), rlock("c", type, "c:1")};
  settings.push_back(
      {.name = type + "-newest-two", .clients = two, .keys = {"k"}, .faults = 1, .renewals = 0});
  settings.push_back({.name = type + "-newest-crash",
                      .clients = some,
                      .keys = {"k"},
                      .crashes = 1,
                      .renewals = 0,
                      .gives_up = false});
  settings.push_back({.name = type + "-newest-vanishes",
                      .clients = two,
                      .keys = {"k"},
                      .renewals = 0,
                      .gives_up = false,
                      .losses = 1});
  for (const std::int64_t jump : {-600000, 600000})
    settings.push_back({.name = fmt::format("{}-newest-set-{}", type, jump < 0 ? "back" : "ahead"),
                        .clients = some,
                        .keys = {"k"},
                        .renewals = 0,
                        .gives_up = false,
                        .jump = jump});
  some.push_back(newest("d"));
  some.push_back(rlock("e", type, "e:1"));
  settings.push_back({.name = type + "-newest-many",
                      .clients = some,
                      .keys = {"k"},
                      .faults = 3,
                      .crashes = 1,
                      .walks = true});
}

/// Settings of semaphores and latches, which have no holders.
void add_counters(std::vector<Setting>& settings) {
  if (!make_counter({.type = "latch", .keys = {"k"}, .owner = ""})) return;  // an old commit has none
  const Words two{"set", "k", std::to_string(kPool)};
  std::vector<ClientPlan> clients;
  for (const std::string name : {"a", "b", "c"}) clients.push_back(rlock(name, "semaphore", name + ":1"));
  settings.push_back(
      {.name = "semaphore-three", .clients = clients, .keys = {"k"}, .begins = two, .faults = 1});
  clients.push_back(redisson("java", "semaphore"));
  settings.push_back({.name = "semaphore-many",
                      .clients = clients,
                      .keys = {"k"},
                      .begins = two,
                      .faults = 3,
                      .crashes = 1,
                      .walks = true});
  clients = {rlock("one", "down", "a:1"), rlock("other", "down", "b:1"), rlock("c", "latch", "c:1"),
             rlock("d", "latch", "d:1")};
  settings.push_back({.name = "latch-two",
                      .clients = clients,
                      .keys = {"k"},
                      .begins = two,
                      .faults = 2,
                      .gives_up = false});
}

}  // namespace

std::vector<Setting> all_settings() {
  std::vector<Setting> settings;
  for (const std::string type : {"lock", "fenced", "fair", "read", "write", "plain", "permit", "spin"})
    add_small(settings, type);
  for (const std::string type : {"lock", "fenced", "fair", "write", "plain"}) add_min_hold(settings, type);
  for (const std::string type : {"lock", "fenced", "fair", "read", "write"})
    add_min_hold_nested(settings, type);
  for (const std::string type : {"lock", "fenced", "plain", "permit"}) add_siblings(settings, type);
  for (const std::string type : {"lock", "fair"}) add_heads(settings, type);
  for (const std::string type : {"lock", "fair", "read"}) add_broken_word(settings, type);
  for (const std::string type : {"lock", "read"}) add_lost_line(settings, type);
  for (const std::string type : {"lock", "fenced", "write", "read", "plain"}) add_quorum(settings, type);
  for (const std::string type : {"lock", "fenced", "write"}) add_newest(settings, type);
  add_counters(settings);
  add_counts(settings);
  for (const std::string type : {"lock", "fenced", "fair", "read", "write", "plain", "permit"})
    add_failover(settings, type);
  for (const std::string type : {"lock", "fenced", "fair", "read", "write", "plain"})
    add_force(settings, type);
  for (const std::string type : {"lock", "fenced"}) add_patience(settings, type);
  for (const std::string type : {"lock", "fair", "read", "write"}) add_redisson(settings, type);
  for (const std::string type : {"lock", "fenced", "fair", "read", "write", "plain", "permit"})
    add_large(settings, type);
  for (const std::string type : {"lock", "fenced", "fair", "write", "plain"}) add_several(settings, type);
  return settings;
}

}  // namespace rlock::model
