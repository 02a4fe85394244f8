// Limits and other figures in the texts of verbs and options. They are typed there, because to format them would cost
// each start. So these tests compare them with what rlock does.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <regex>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "cmd/app/verb_table.h"
#include "cmd/cli/parser.h"
#include "cmd/hold/request/hold_request.h"
#include "cmd/hold/wait/ancestor_watch.h"
#include "cmd/run/run_options.h"
#include "cmd/run/run_request.h"
#include "cmd/verbs/pool_verbs.h"
#include "support/contains.h"
#include "support/process.h"
#include "support/redis_server.h"
#include "sync/kinds/latch.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// One verb with its options. The setters write into the verb.
struct Declared {
  std::unique_ptr<Verb> verb;
  VerbSpec spec;

  explicit Declared(const VerbEntry& entry) : verb(entry.make()), spec(verb->spec()) {}
  explicit Declared(std::string_view name) : Declared(*find_verb(name)) {}
};

std::string text_of(const Option& option) {
  return std::string{option.help} + ". " + std::string{option.manual};
}

std::string text_of(std::string_view verb, std::string_view option) {
  return text_of(Declared{verb}.spec.option(option));
}

bool accepts(const Option& option, const std::string& value) try {
  option.set(value);
  return true;
} catch (const Error&) {
  return false;
}

/// Calls `check` with each option of each verb whose text matches. Returns the names of these options.
template <class Check>
std::set<std::string> for_each_text(const std::string& pattern, Check check) {
  const std::regex wanted{pattern};
  std::set<std::string> found;
  for (const VerbEntry* entry : verbs()) {
    const Declared declared{*entry};
    for (const auto& group : declared.spec.groups) {
      for (const Option& option : group.options) {
        const std::string text = text_of(option);
        std::smatch figures;
        if (!std::regex_search(text, figures, wanted)) continue;
        CAPTURE(entry->name);
        CAPTURE(option.names);
        found.emplace(option.names);
        check(option, figures);
      }
    }
  }
  return found;
}

std::string file_of_project(const std::string& name) {
  return read_file(std::string{RLOCK_SOURCE_FOLDER} + "/" + name);
}

/// What `rlock run` with these options says before it asks a server; empty: nothing.
std::string refused_by_run(Words words) try {
  words.insert(words.begin(), {"--url", "redis://h", "-k", "k"});
  words.insert(words.end(), {"--", "true"});
  RunRequest request;
  TypedRun typed;
  VerbSpec spec;
  declare_run(spec, request, typed);
  complete_run(request, typed, parse(spec, words).command);
  return "";
} catch (const Error& error) {
  return error.what();
}

}  // namespace

TEST_CASE("an option accepts the numbers that its text names, and no others") {
  const auto found =
      for_each_text("from (\\d+) to (\\d+)", [](const Option& option, const std::smatch& numbers) {
        const long long least = std::stoll(numbers[1]), most = std::stoll(numbers[2]);
        CHECK(accepts(option, std::to_string(least)));
        CHECK(accepts(option, std::to_string(most)));
        CHECK_FALSE(accepts(option, std::to_string(least - 1)));
        CHECK_FALSE(accepts(option, std::to_string(most + 1)));
      });
  for (const std::string name : {"--permits", "--count", "--sync-replicas", "--db"})
    CHECK(found.contains(name));
  const auto limited =
      for_each_text("N is at most (\\d+)", [](const Option& option, const std::smatch& numbers) {
        CHECK(accepts(option, numbers[1]));
        CHECK_FALSE(accepts(option, std::to_string(std::stoll(numbers[1]) + 1)));
      });
  CHECK(limited == std::set<std::string>{"--queue-limit"});
}

TEST_CASE("an option accepts as many bytes as its text says, and no more") {
  const auto text_of_size = [](std::size_t size) { return "a=" + std::string(size - 2, 'x'); };
  const auto check = [&](const Option& option, const std::smatch& bytes) {
    const std::size_t most = std::stoul(bytes[1]);
    CHECK(accepts(option, text_of_size(most)));
    CHECK_FALSE(accepts(option, text_of_size(most + 1)));
  };
  CHECK(for_each_text("at most (\\d+) bytes", check) == std::set<std::string>{"--reason", "--label"});
  CHECK(for_each_text("1 to (\\d+) printable characters", check) == std::set<std::string>{"--owner"});
  const auto all_labels = [](const Option& option, const std::smatch& bytes) {
    const std::size_t part = std::stoul(bytes[1]) / 16;
    for (char name = 'a'; name < 'a' + 16; ++name)
      CHECK(accepts(option, name + std::string{"="} + std::string(part - 1, 'x')));
    CHECK_FALSE(accepts(option, "more="));
  };
  CHECK(for_each_text("all labels together have at most (\\d+)", all_labels) ==
        std::set<std::string>{"--label"});
}

TEST_CASE("an option accepts the shortest duration that its text names, and no shorter one") {
  const auto found =
      for_each_text("DUR, at least (\\w+)\\.", [](const Option& option, const std::smatch& least) {
        CHECK(accepts(option, least[1]));
        CHECK_FALSE(accepts(option, exact(parse_duration(least[1].str()) - Milliseconds{1})));
      });
  CHECK(found == std::set<std::string>{"--fair-wait-timeout"});
}

TEST_CASE("figures in the texts are those of the code") {
  const auto days_of = [](Milliseconds time) { return std::chrono::floor<std::chrono::days>(time).count(); };
  const std::string key = text_of("run", "key");
  CHECK(contains(key, fmt::format("1 byte to {} KiB", kLongestKey / 1024)));
  CHECK(contains(key, fmt::format("at most {} keys", kMostKeys)));
  CHECK(contains(key, fmt::format("at most {} KiB together", kMostBytesOfKeys / 1024)));
  HoldRequest standard;
  standard.type = find_lock_type("lock");
  standard.renew = false;
  standard.plan_time(std::nullopt);
  CHECK(contains(text_of("run", "no-renew"),
                 fmt::format("after {}, and KILL after {}", describe(standard.budget.stop_after()),
                             describe(standard.budget.kill_after()))));
  for (const std::string& text :
       {text_of("run", "owner"), text_of("run", "lease"), text_of("lock acquire", "owner")})
    CHECK(contains(text, fmt::format("at least every {}", exact(kBesideRedisson))));
  CHECK(contains(text_of("stop", "wait"), fmt::format("plus {} seconds", kAfterKill / Milliseconds{1000})));
  CHECK(contains(text_of("permit acquire", "no-lease"),
                 fmt::format("for {} days", days_of(kFactsWithoutLease))));
  CHECK(
      contains(text_of("permit acquire", "count"), fmt::format("status 75 after {}", exact(kGivesUpAfter))));
  CHECK(contains(Declared{"lock wait"}.spec.about, fmt::format("status 75 after {}", exact(kGivesUpAfter))));
  const auto hours = std::chrono::floor<std::chrono::hours>(kRecordStays).count();
  CHECK(contains(Declared{"latch wait"}.spec.about, fmt::format("in the last {}h", hours)));
  CHECK(contains(text_of("latch wait", "await-set"), fmt::format("in the last {} hours", hours)));
  // One field of the hash of readers is no reader: it is the mode.
  std::smatch most;
  const std::string script = file_of_project("lua/inspect/key.lua");
  REQUIRE(std::regex_search(script, most, std::regex{"local most = (\\d+)"}));
  CHECK(contains(text_of("stop", "if-owner"), fmt::format("more than {} readers", std::stoi(most[1]) - 1)));
}

TEST_CASE("texts that list types of locks list those of the table") {
  const auto types = [](std::string_view last, auto belongs) {
    std::vector<std::string> names;
    for (const LockType& type : lock_types())
      if (belongs(type)) names.emplace_back(type.name);
    const std::string end = names.back();
    names.pop_back();
    return joined(names, ", ") + std::string{last} + end;
  };
  const auto once_per = [](const LockType& type) { return type.once_per; };
  const auto polls = [](const LockType& type) { return type.polls; };
  const auto in_order = [](const LockType& type) { return !type.in_order.empty(); };
  const auto of_hash = [](const LockType& type) { return type.kind->stored_as == kinds::lock.stored_as; };
  CHECK(contains(text_of("run", "once-per"), "key of type " + types(" or ", once_per) + " on one"));
  CHECK(contains(text_of("run", "newest"), "--type " + types(" or ", in_order) + ","));
  CHECK(contains(text_of("run", "queue-limit"), "--type " + types(" or ", polls) + ","));
  CHECK(contains(text_of("run", "backoff"), "of type " + types(" or ", polls) + ","));
  CHECK(contains(text_of("unlock", "type"), "tell " + types(" and ", of_hash) + " apart"));
  CHECK(contains(text_of("lock release", "type"), "tell " + types(" and ", of_hash) + " apart"));
  CHECK(contains(kinds::lock.remedy, "--type " + types(" or ", of_hash) + " ("));
  for (const LockType& type : lock_types()) {
    CAPTURE(type.name);
    CHECK(refused_by_run({"--once-per", "1m", "--type", std::string{type.name}}) ==
          (type.once_per ? ""
                         : fmt::format("--once-per with --type {}: it is for {}", type.name,
                                       types(" and ", once_per))));
    CHECK(refused_by_run({"--backoff", "1..2s", "--type", std::string{type.name}}) ==
          (type.polls ? ""
                      : fmt::format("--backoff is for --type {}: a release wakes up the waiters of --type {}",
                                    types(" and ", polls), type.name)));
  }
}

TEST_CASE("--queue-limit names the time after which the server forgets a waiter") {
  RedisServer redis;
  const std::string script = "local alive_until = (function() " +
                             file_of_project("lua/shared/line/alive_until.lua") +
                             "\nend)() return (alive_until(0, tonumber(ARGV[1])))";
  const auto forgotten_after = [&](const char* place) {
    return std::stoll(redis.cli({"EVAL", script, "0", place})) / 1000;
  };
  CHECK(contains(text_of("run", "queue-limit"),
                 fmt::format("after {}s if the waiter was the first, else after at most {}s.",
                             forgotten_after("1"), forgotten_after("1000000"))));
}
