// The JSON of rlock inspect agrees with rlock-json(5) for every type and state of a key; that of history and
// config agrees with their pages.

#include <doctest/doctest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "support/cli.h"
#include "support/contains.h"
#include "support/json_names.h"
#include "support/redis_server.h"

using namespace rlock::test;

namespace {

using Names = std::set<std::string>;

Names words_of(const std::string& text) {
  std::istringstream words{text};
  Names names;
  for (std::string word; words >> word;) names.insert(word);
  return names;
}

/// A section of rlock-json(5): the fields at each depth of the document, with their descriptions.
class Schema {
 public:
  explicit Schema(const std::string& section = "INSPECT AND LIST") {
    std::string page = read_file(std::string{RLOCK_SOURCE_FOLDER} + "/man/rlock-json.5");
    page = page.substr(page.find(".SH " + section + "\n"));
    for (std::size_t at = 0; (at = page.find('\\', at)) != std::string::npos;) page.erase(at, 1);
    std::istringstream lines{page.substr(page.find(".nf\n") + 4)};
    std::string* last = nullptr;
    for (std::string line; std::getline(lines, line) && line != ".fi";) {
      const std::size_t depth = line.find_first_not_of(' ');
      if (depth > 4) {
        *last += " " + line;
        continue;
      }
      const std::size_t end = line.find(' ', depth);
      last = &fields_[depth / 2][line.substr(depth, end - depth)];
      *last = line.substr(end);
    }
  }

  Names fields(std::size_t depth) const {
    Names names;
    for (const auto& [name, unused] : fields_.at(depth)) names.insert(name);
    return names;
  }

  /// The words that a field may contain.
  Names words(std::size_t depth, const std::string& field) const {
    return words_of(fields_.at(depth).at(field));
  }

  /// The fields of an object that is described on one line: "null, or: host pid user".
  Names listed(std::size_t depth, const std::string& field) const {
    const std::string& text = fields_.at(depth).at(field);
    const std::string names = text.substr(text.find("or:") + 3);
    return words_of(names.substr(0, names.find('.')));  // a sentence may follow
  }

 private:
  std::map<std::size_t, std::map<std::string, std::string>> fields_;
};

bool number_or_null(const ParsedJson& value) { return value.is_null() || value.is_number_integer(); }

void check_holder(const Schema& schema, const ParsedJson& holder) {
  CHECK(names_of(holder) == schema.fields(2));
  CHECK(holder["owner"].is_string());
  CHECK(schema.words(2, "mode").contains(holder["mode"].get<std::string>()));
  CHECK(holder["count"].is_number_integer());
  CHECK(holder["ttl_ms"].is_number_integer());
  CHECK(number_or_null(holder["fence"]));
  CHECK(number_or_null(holder["slot"]));
  CHECK((holder["mode"] == "permit" ? holder["permit_id"].is_string() : holder["permit_id"].is_null()));
  if (!holder["meta"].is_null()) CHECK(names_of(holder["meta"]) == schema.listed(2, "meta"));
}

void check_described_key(const Schema& schema, const ParsedJson& key) {
  Names fields = schema.fields(1);
  CHECK(fields.contains("key_base64"));
  if (!contains(key["key"].get<std::string>(), "\ufffd")) fields.erase("key_base64");
  CHECK(names_of(key) == fields);
  CHECK(schema.words(1, "type").contains(key["type"].get<std::string>()));
  CHECK(schema.words(1, "state").contains(key["state"].get<std::string>()));
  CHECK(key["ttl_ms"].is_number_integer());
  for (const ParsedJson& holder : key["holders"]) check_holder(schema, holder);
  for (const ParsedJson& waiter : key["waiters"])
    CHECK(names_of(waiter) == Names{"owner", "position", "ttl_ms", "meta", "since"});
  CHECK(key["subscribers"].is_number_integer());
  if (!key["permits"].is_null()) CHECK(names_of(key["permits"]) == schema.listed(1, "permits"));
  CHECK(number_or_null(key["count"]));
  CHECK(number_or_null(key["fence"]));
  CHECK((key["server"].is_null() || key["server"].is_string()));
  CHECK((key["last"].is_null() || key["last"].is_object()));
  CHECK(key["stale"].is_boolean());
}

bool text_or_null(const ParsedJson& value) { return value.is_null() || value.is_string(); }

void check_past(const Schema& schema, const ParsedJson& past) {
  CHECK(names_of(past) == schema.fields(1));
  CHECK(past["owner"].is_string());
  CHECK(schema.words(1, "type").contains(past["type"].get<std::string>()));
  CHECK(schema.words(1, "outcome").contains(past["outcome"].get<std::string>()));
  for (const char* name : {"since", "ended_at", "held_ms"}) CHECK(past[name].is_number_integer());
  for (const char* name : {"waited_ms", "exit", "signal"}) CHECK(number_or_null(past[name]));
  CHECK(text_or_null(past["why"]));
  CHECK(names_of(past["meta"]) == schema.words(1, "meta"));
  CHECK(past["meta"]["pid"].is_number_integer());
  for (const char* name : {"host", "user", "command"}) CHECK(past["meta"][name].is_string());
  for (const char* name : {"reason", "url"}) CHECK(text_or_null(past["meta"][name]));
}

/// Checks that `key` has this type and state, and that its document is as the manual says.
void check(const RedisServer& redis, const std::string& key, const std::string& type,
           const std::string& state) {
  CAPTURE(key);
  Rlock inspect = redis.rlock("inspect", "--json", key);
  REQUIRE(inspect.exit_code() == 0);
  const ParsedJson document = ParsedJson::parse(inspect.out());
  const Schema schema;
  CHECK(names_of(document) == schema.fields(0));
  CHECK(document["v"] == 1);
  CHECK(document["complete"] == true);
  REQUIRE(document["keys"].size() == 1);
  CHECK(document["keys"][0]["type"] == type);
  CHECK(document["keys"][0]["state"] == state);
  check_described_key(schema, document["keys"][0]);
}

void done(const RedisServer& redis, const Words& words) {
  CAPTURE(words.at(1));
  CHECK(Rlock{words, redis.environment()}.exit_code() == 0);
}

}  // namespace

TEST_CASE("the JSON of every type that rlock takes is as the manual says") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "spin", "read", "write", "plain"})
    done(redis, {"lock", "acquire", type, "--type", type, "--lease", "10m"});
  check(redis, "nothing", "none", "free");
  check(redis, "lock", "lock", "held");
  check(redis, "fair", "fair", "held");  // with an empty queue, too
  check(redis, "fenced", "fenced", "held");
  check(redis, "spin", "lock", "held");
  check(redis, "read", "read-write", "held");
  check(redis, "write", "read-write", "held");
  check(redis, "plain", "plain", "held");

  redis.cli({"RPUSH", "redisson_lock_queue:{fair}", "somebody:1"});
  redis.cli({"ZADD", "redisson_lock_timeout:{fair}", "99999999999999", "somebody:1"});
  check(redis, "fair", "fair", "held");
  redis.del("fenced");
  check(redis, "fenced", "fenced", "free");
}

TEST_CASE("the JSON of counted, kept and foreign keys is as the manual says") {
  RedisServer redis;
  done(redis, {"sem", "init", "semaphore", "1"});
  check(redis, "semaphore", "semaphore", "open");
  done(redis, {"sem", "acquire", "semaphore"});
  check(redis, "semaphore", "semaphore", "closed");
  done(redis, {"permit", "init", "seats", "2"});
  done(redis, {"permit", "acquire", "seats", "--lease", "10m"});
  check(redis, "seats", "permit", "held");
  done(redis, {"latch", "set", "built", "1"});
  check(redis, "built", "latch", "closed");
  done(redis, {"latch", "down", "built"});
  check(redis, "built", "latch", "open");
  done(redis, {"run", "-k", "report", "--min-hold", "10m", "--reason", "r", "--label", "a=b", "--", "true"});
  check(redis, "report", "lock", "kept");
  redis.cli({"RPUSH", "list", "x"});
  check(redis, "list", "foreign", "held");
}

TEST_CASE("the JSON of a history is as the manual says, for every end of a hold") {
  RedisServer redis;
  for (const std::string type : {"lock", "fair", "fenced", "spin", "read", "write", "plain"})
    done(redis, {"run", "--type", type, "-k", "k", "--reason", "r", "--", "true"});
  done(redis, {"run", "--permits", "2", "-k", "p", "--", "true"});
  CHECK(Rlock{{"run", "-k", "k", "--", "sh", "-c", "kill $$"}, redis.environment()}.exit_code() == 143);
  done(redis, {"lock", "acquire", "k", "--lease", "1m"});
  done(redis, {"unlock", "--yes", "k"});
  const Schema schema{"HISTORY"};
  for (const std::string key : {"k", "p"}) {
    Rlock history = redis.rlock("history", "--json", key);
    REQUIRE(history.exit_code() == 0);
    const ParsedJson document = ParsedJson::parse(history.out());
    CHECK(names_of(document) == schema.fields(0));
    for (const ParsedJson& past : document["holds"]) check_past(schema, past);
  }
  Rlock none = redis.rlock("history", "--json", "none");
  CHECK(none.exit_code() == 1);
  CHECK(ParsedJson::parse(none.out())["holds"].empty());
}

TEST_CASE("the JSON of config is as the manual says") {
  const RedisServer redis;
  Rlock config = redis.rlock("config", "--json", "--url", "rediss://h", "--prefix", "app:", "--cert", "/c",
                             "--tls-key", "/k", "--insecure");
  REQUIRE(config.exit_code() == 0);
  const ParsedJson document = ParsedJson::parse(config.out());
  const Schema schema{"CONFIG"};
  CHECK(names_of(document) == schema.fields(0));
  REQUIRE(document["settings"].size() > 4);
  for (const ParsedJson& setting : document["settings"]) {
    CHECK(names_of(setting) == schema.fields(1));
    CHECK_MESSAGE(schema.words(1, "name").contains(setting["name"].get<std::string>()), setting.dump());
    CHECK(setting["value"].is_string());
    CHECK(setting["from"].is_string());
  }
}

TEST_CASE("the JSON has what the examples in the help take from it") {
  RedisServer redis;
  done(redis, {"run", "-k", "deploy", "--", "true"});
  done(redis, {"lock", "acquire", "deploy", "--lease", "1m"});
  for (const Words& words : {Words{"inspect"}, Words{"list"}, Words{"history", "deploy"}, Words{"config"}}) {
    const std::string& verb = words.front();
    CAPTURE(verb);
    Words with_json = words;
    with_json.emplace_back("--json");
    Rlock json{with_json, redis.environment()};
    REQUIRE(json.exit_code() == 0);
    const ParsedJson document = ParsedJson::parse(json.out());
    Rlock with_help{{verb, "--help"}, redis.environment()};
    REQUIRE(with_help.exit_code() == 0);
    const std::string help = with_help.out();
    const std::regex example{"jq -r '([^ ']*)"};
    const std::sregex_iterator first{help.begin(), help.end(), example};
    REQUIRE(first != std::sregex_iterator{});
    for (auto found = first; found != std::sregex_iterator{}; ++found) {
      const std::string members = std::regex_replace(found->str(1), std::regex{"\\[0?\\]"}, "/0");
      const ParsedJson::json_pointer path{std::regex_replace(members, std::regex{"[.]"}, "/")};
      CHECK_MESSAGE(document.contains(path), found->str(1));
    }
  }
}

TEST_CASE("the bytes of a key that is no UTF-8 stand beside it in every document, and beside no other") {
  RedisServer redis;
  const std::string key = "k\xff\xfe\n";
  const std::string bytes = "a//+Cg==";
  const auto documents = [&](const std::string& name) {
    std::vector<ParsedJson> all;
    for (const Words& words :
         {Words{"inspect", "--json", name}, Words{"lock", "acquire", "--lease", "1m", "--json", name},
          Words{"lock", "status", "--json", name}, Words{"sem", "drain", "--json", "s" + name},
          Words{"sem", "status", "--json", "s" + name},
          Words{"permit", "acquire", "--lease", "1m", "--json", "p" + name},
          Words{"permit", "status", "--json", "p" + name}, Words{"latch", "status", "--json", "l" + name}}) {
      CAPTURE(words.at(1));
      Rlock rlock{words, redis.environment()};
      REQUIRE(rlock.exit_code() == 0);
      const ParsedJson document = ParsedJson::parse(rlock.out());
      all.push_back(document.contains("keys") ? document["keys"].at(0) : document);
    }
    return all;
  };
  for (const std::string& name : {key, std::string{"ä"}}) {
    done(redis, {"sem", "init", "s" + name, "1"});
    done(redis, {"permit", "init", "p" + name, "1"});
    done(redis, {"latch", "set", "l" + name, "1"});
    done(redis, {"latch", "down", "l" + name});
  }
  for (const ParsedJson& document : documents("ä")) CHECK_FALSE(document.contains("key_base64"));
  const std::vector<ParsedJson> strange = documents(key);
  for (const ParsedJson& document : strange) {
    CAPTURE(document.dump());
    CHECK(document.contains("key_base64"));
  }
  CHECK(strange.front()["key"] == "k\ufffd\ufffd\n");
  CHECK(strange.front()["key_base64"] == bytes);
  check(redis, key, "lock", "held");
}

TEST_CASE("the record of a run has the bytes of all keys where one of them is no UTF-8") {
  RedisServer redis;
  TempDir folder;
  const std::string file = folder / "status";
  done(redis, {"run", "-k", "b\xff", "-k", "a", "--status-file", file, "true"});
  CHECK(ParsedJson::parse(read_file(file))["keys"] == ParsedJson{"a", "b\ufffd"});
  CHECK(ParsedJson::parse(read_file(file))["keys_base64"] == ParsedJson{"YQ==", "Yv8="});
  done(redis, {"run", "-k", "b", "-k", "a", "--status-file", file, "true"});
  CHECK_FALSE(ParsedJson::parse(read_file(file)).contains("keys_base64"));
}
