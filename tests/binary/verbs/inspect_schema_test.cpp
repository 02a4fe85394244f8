// rlock inspect --json for every type of key, against the schema that programs rely on: names, types and
// values. The document may contain more names.

#include <doctest/doctest.h>

#include <algorithm>

#include "support/cli.h"
#include "support/contains.h"
#include "support/eventually.h"
#include "support/json_names.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

/// True: the value is of the type `wanted`: number, text, flag, list or object, or one of several texts that are
/// separated by |. If `wanted` ends with `?`, null is allowed, too.
bool is_a(const ParsedJson& value, std::string wanted) {
  if (wanted.ends_with('?')) {
    if (value.is_null()) return true;
    wanted.pop_back();
  }
  if (wanted == "number") return value.is_number_integer();
  if (wanted == "text") return value.is_string();
  if (wanted == "flag") return value.is_boolean();
  if (wanted == "list") return value.is_array();
  if (wanted == "object") return value.is_object();
  return value.is_string() && contains("|" + wanted + "|", "|" + value.get<std::string>() + "|");
}

using FieldTypes = std::vector<std::pair<std::string, std::string>>;

const FieldTypes kDocumentFields{{"v", "number"}, {"complete", "flag"}, {"keys", "list"}};
const FieldTypes kKeyFields{{"key", "text"},
                            {"type", "lock|fair|fenced|read-write|plain|semaphore|permit|latch|none|foreign"},
                            {"state", "free|held|kept|open|closed"},
                            {"stale", "flag"},
                            {"ttl_ms", "number"},
                            {"holders", "list"},
                            {"waiters", "list"},
                            {"subscribers", "number"},
                            {"permits", "object?"},
                            {"count", "number?"},
                            {"fence", "number?"},
                            {"server", "text?"},
                            {"last", "object?"}};
const FieldTypes kHolderFields{{"owner", "text"},    {"mode", "exclusive|read|write|permit"},
                               {"count", "number"},  {"ttl_ms", "number"},
                               {"fence", "number?"}, {"slot", "number?"},
                               {"meta", "object?"}};
const FieldTypes kMetaFields{{"host", "text"},    {"pid", "number"},        {"user", "text"},
                             {"command", "text"}, {"reason", "text?"},      {"labels", "object"},
                             {"url", "text?"},    {"since", "number"},      {"lease_ms", "number"},
                             {"renews", "flag?"}, {"renewed_at", "number"}, {"ended_at", "number?"},
                             {"exit", "number?"}};
const FieldTypes kWaiterFields{{"owner", "text"},
                               {"position", "number"},
                               {"ttl_ms", "number"},
                               {"meta", "object?"},
                               {"since", "number?"}};
const FieldTypes kPermitsFields{{"available", "number"}, {"total", "number?"}};

void check_fields(const ParsedJson& object, const FieldTypes& schema) {
  CAPTURE(object.dump());
  REQUIRE(object.is_object());
  for (const auto& [name, wanted] : schema) {
    CAPTURE(name);
    REQUIRE(object.contains(name));
    CHECK_MESSAGE(is_a(object[name], wanted), object[name].dump());
  }
}

void check_key_fields(const ParsedJson& key) {
  check_fields(key, kKeyFields);
  if (!key["permits"].is_null()) check_fields(key["permits"], kPermitsFields);
  for (const ParsedJson& waiter : key["waiters"]) check_fields(waiter, kWaiterFields);
  for (const ParsedJson& holder : key["holders"]) {
    check_fields(holder, kHolderFields);
    if (!holder["meta"].is_null()) check_fields(holder["meta"], kMetaFields);
  }
}

/// What the document says about each key, in a few words: type, state, number of holders.
struct Row {
  std::string key;
  std::string type;
  std::string state;
  std::size_t holders;
};

const std::vector<Row> kRows{
    {"lock", "lock", "held", 1},     {"fair", "fair", "held", 1},       {"fenced", "fenced", "held", 1},
    {"spin", "lock", "held", 1},     {"read", "read-write", "held", 2}, {"write", "read-write", "held", 1},
    {"plain", "plain", "held", 1},   {"kept", "lock", "kept", 1},       {"theirs", "lock", "held", 1},
    {"permit", "permit", "held", 1}, {"pool", "semaphore", "open", 0},  {"sem", "semaphore", "open", 0},
    {"latch", "latch", "closed", 0}, {"list", "foreign", "held", 0},    {"free", "none", "free", 0},
};

}  // namespace

TEST_CASE("inspect --json keeps to its schema for every content of a key") {
  RedisServer redis;
  const auto done = [&](const Words& words) {
    REQUIRE(Rlock{words, redis.environment()}.exit_code(30s) == 0);
  };
  for (const std::string type : {"lock", "fair", "fenced", "spin", "read", "read", "write", "plain"})
    done({"lock", "acquire", type, "--type", type, "--lease", "60s"});
  done({"run", "-k", "kept", "--min-hold", "60s", "--reason", "why", "--label", "a=b", "--", "true"});
  redis.cli({"HSET", "theirs", "8d1f2c3a-1111-2222-3333-444455556666:57", "1"});
  done({"permit", "init", "permit", "3"});
  done({"permit", "acquire", "permit", "--lease", "60s"});
  done({"permit", "init", "pool", "3"});
  done({"sem", "init", "sem", "3"});
  done({"latch", "set", "latch", "3"});
  redis.cli({"RPUSH", "list", "a"});
  const Rlock waiter = redis.rlock("run", "-q", "--fair", "-k", "fair", "--", "true");
  REQUIRE(eventually([&] { return redis.has("redisson_lock_queue:{fair}"); }, 20s));

  Words words{"inspect", "--json"};
  for (const Row& row : kRows) words.push_back(row.key);
  Rlock inspect{words, redis.environment()};
  REQUIRE(inspect.exit_code(30s) == 0);
  const ParsedJson document = ParsedJson::parse(inspect.out());

  check_fields(document, kDocumentFields);
  REQUIRE(document["keys"].size() == kRows.size());
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    const ParsedJson& key = document["keys"][i];
    check_key_fields(key);
    CAPTURE(key.dump());
    CHECK(key["key"] == kRows[i].key);
    CHECK(key["type"] == kRows[i].type);
    CHECK(key["state"] == kRows[i].state);
    CHECK(key["holders"].size() == kRows[i].holders);
  }
  CHECK(document["keys"][1]["waiters"].size() == 1);
}
