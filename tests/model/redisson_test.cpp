// Compares the explorer's model of Redisson with recordings of two releases (recordings/). The same calls in
// the same order must get the same answers, leave the same keys, and tell the same listeners.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "hold.h"
#include "interpreter.h"
#include "numbers.h"
#include "support/contains.h"

using namespace rlock;
using namespace rlock::model;

namespace {

/// In ms. The time of an entry of a recording may be this much too late. It is the time of the reply, and a new JVM is
/// slow.
constexpr std::int64_t kLate = 80;

Words words_in(const std::string& text) {
  Words words;
  std::istringstream stream{text};
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

/// The text between `before` and `after`; nothing: `text` does not contain them.
std::optional<std::string> between(const std::string& text, const std::string& before,
                                   const std::string& after) {
  const auto from = text.find(before);
  if (from == std::string::npos) return std::nullopt;
  const auto begin = from + before.size();
  const auto end = text.find(after, begin);
  return end == std::string::npos ? std::nullopt : std::optional{text.substr(begin, end - begin)};
}

/// "@+12" means 12 ms after the recording's start.
std::optional<std::int64_t> moment_in(const std::string& word) {
  return word.starts_with("@+") ? integer_in(word.substr(2)) : std::nullopt;
}

bool is_about(std::int64_t one, std::int64_t other) { return std::abs(one - other) <= kLate; }

/// A server and two clients that repeat a recording.
class Replay {
 public:
  std::size_t calls = 0, snapshots = 0, messages = 0;

  explicit Replay(bool classic) : classic_(classic) {}

  void line(const std::string& text) {
    const Words words = words_in(text);
    if (text.starts_with("# ---")) begin_ = elapsed_, known_.clear();
    if (words.size() < 3 || text.starts_with('#')) return;
    at_ = begin_ + static_cast<std::int64_t>(std::lround(std::strtod(words[0].c_str(), nullptr)));
    if (words[1] == "snapshot") return snapshot(text, words[2].substr(0, words[2].size() - 1));
    const int client = words[1].starts_with('A') ? 0 : 1;
    if (words[2] == "SUBSCRIBE") store_.listen(client, words[3]), subscribed_[client].push_back(words[3]);
    if (words[2] == "UNSUBSCRIBE") heard_.clear(), unsubscribe(client, words[3]);
    if (words[2] == "DEL") store_.call({"del", words[3]});
    if (words[2] == "<message>") hear(client, words[4], words.back());
    if (words[2] == "EVAL" || words[2] == "EVALSHA") call(text, words[3]);
  }

 private:
  void pass(std::int64_t until) {
    elapsed_ = std::max(elapsed_, until);
    store_.advance_to(kBegin + elapsed_);
  }

  void call(const std::string& text, const std::string& label) {
    if (test::contains(text, "NOSCRIPT")) return;
    const Words keys = words_in(between(text, "KEYS[", "]").value());
    const Words args = words_in(between(text, "ARGV[", "]").value());
    const std::string reply = text.substr(text.find("] -> ") + 5);
    std::int64_t at = at_;
    for (const std::string& arg : args)
      if (const auto moment = moment_in(arg)) at = begin_ + *moment;
    pass(at);
    // An excerpt may not show which client created a key.
    const bool makes = label.ends_with("acquire>") || label.ends_with("wait>") || label.ends_with("set>");
    if (!makes && !known_.contains(keys.front())) return;
    known_.insert(keys.begin(), keys.end());
    if (label.ends_with("force>")) {  // done here: the explorer's model of Redisson has no force
      if (store_.call({"del", keys.front()}).integer() == 1) publish(keys);
    } else if (label == "<sem-tryset>" || label == "<sem-add>" ||
               (label == "<sem-release>" && args.front() != "1")) {
      const Reply now = store_.call({"incrby", keys.front(), args.front()});
      store_.call({"publish", keys[1], std::to_string(now.integer())});
    } else if (label == "<sem-drain>") {
      store_.call({"set", keys.front(), "0"});
    } else {
      replay(label, keys, args, reply);
    }
    for (const model::Delivery& message : store_.take_deliveries()) heard_.push_back(message);
  }

  void replay(const std::string& label, const Words& keys, const Words& args, const std::string& reply) {
    const auto known = kLabels.find(label);
    if (known == kLabels.end()) return;
    const auto& [type, step] = known->second;
    Wanted wanted{.type = type, .keys = {keys.front()}, .owner = "", .lease = 30000, .classic = classic_};
    std::string wait = "300000";
    for (const std::string& arg : args)
      if (test::contains(arg, "-uuid:") && wanted.owner.empty()) wanted.owner = arg;
    if (wanted.owner.ends_with(":write")) wanted.owner.resize(wanted.owner.size() - 6);
    if (step == Step::ask && type != "semaphore") wanted.lease = integer_in(args.front()).value();
    if (step == Step::renew) wanted.lease = integer_in(args.front()).value();
    if (step == Step::release && args.size() > 2) wanted.lease = integer_in(args[1]).value_or(wanted.lease);
    if (label == "<fair-try-wait>") wait = args[2];
    if (label == "<fair-acquire-failed>") {
      wanted.keys = {between(keys.front(), "{", "}").value()};
      wait = args[1];
    }
    const auto hold = make_redisson_hold(wanted);
    Call call = step == Step::ask     ? hold->ask(0)
                : step == Step::renew ? hold->renew().front()
                : step == Step::undo  ? hold->undo().front()
                                      : hold->release(0).front();
    call.args.edit()[3] = wait;
    const Reply said = lua_.run(call, store_);
    ++calls;
    REQUIRE_FALSE(said.is_error());
    if (step == Step::ask && type == "semaphore") {
      CHECK((said.kind() == Reply::Kind::text) == reply.starts_with("(int) 1"));
    } else if (step == Step::ask) {
      CHECK((said.kind() == Reply::Kind::text) == reply.starts_with("NIL"));
      if (said.kind() != Reply::Kind::text && reply.starts_with("(int) "))
        CHECK_MESSAGE(is_about(said.integer(), integer_in(words_in(reply)[1]).value_or(-1)), said.integer());
    } else if (step == Step::renew) {
      CHECK(said.integer() == integer_in(words_in(reply)[1]));
    } else if (step == Step::release && type != "semaphore") {
      CHECK((said.integer() == 1) == !reply.starts_with("NIL"));
    }
  }

  /// Sends a message to all listeners of the channel, or to the first of a queue.
  void publish(const Words& keys) {
    const bool fair = keys.size() > 2;
    const std::string to = fair ? ":" + store_.call({"lindex", keys[1], "0"}).text() : "";
    store_.call({"publish", keys[fair ? 3 : 1] + to, "0"});
  }

  void snapshot(const std::string& text, const std::string& key) {
    pass(at_);
    if (!known_.contains(key)) return;
    ++snapshots;
    const std::string kind = store_.call({"type", key}).text();
    if (text.ends_with("absent")) {
      CHECK(kind == "none");
      return;
    }
    REQUIRE(test::contains(text, ": " + kind + " {"));
    Words there, recorded = words_in(between(text, ": " + kind + " {", "} PTTL").value_or(""));
    const auto take = [&](const Words& command) {
      for (const Reply& one : store_.call(command).items()) there.push_back(one.text());
    };
    if (kind == "string") there.push_back(store_.call({"get", key}).text());
    if (kind == "list") take({"lrange", key, "0", "-1"});
    if (kind == "hash") take({"hgetall", key}), sort_pairs(there), sort_pairs(recorded);
    if (kind == "zset") take({"zrange", key, "0", "-1", "withscores"});
    REQUIRE(there.size() == recorded.size());
    for (std::size_t i = 0; i < there.size(); ++i) {
      const auto moment = moment_in(recorded[i]);
      if (!moment) CHECK(there[i] == recorded[i]);
      if (moment)
        CHECK(is_about(static_cast<std::int64_t>(score_in(there[i]).value()) - kBegin - begin_, *moment));
    }
    const auto ttl = integer_in(words_in(text).back());
    if (ttl)
      CHECK_MESSAGE(is_about(store_.call({"pttl", key}).integer(), *ttl),
                    store_.call({"pttl", key}).integer());
  }

  static void sort_pairs(Words& words) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::size_t i = 0; i + 1 < words.size(); i += 2) pairs.emplace_back(words[i], words[i + 1]);
    std::ranges::sort(pairs);
    words.clear();
    for (const auto& [field, value] : pairs) words.insert(words.end(), {field, value});
  }

  void hear(int client, const std::string& channel, const std::string& text) {
    const auto same = [&](const model::Delivery& one) {
      return one.client == client && one.channel == channel && one.text == text;
    };
    const auto found = std::ranges::find_if(heard_, same);
    CHECK_MESSAGE(found != heard_.end(), channel, " ", text);
    if (found == heard_.end()) return;
    heard_.erase(found);
    ++messages;
  }

  void unsubscribe(int client, const std::string& channel) {
    std::erase(subscribed_[client], channel);
    store_.stop_listening(client);
    for (const std::string& one : subscribed_[client]) store_.listen(client, one);
  }

  enum class Step { ask, renew, release, undo };
  static inline const std::map<std::string, std::pair<std::string, Step>> kLabels{
      {"<acquire>", {"lock", Step::ask}},         {"<renew>", {"lock", Step::renew}},
      {"<unlock>", {"lock", Step::release}},      {"<fair-try-wait>", {"fair", Step::ask}},
      {"<fair-unlock>", {"fair", Step::release}}, {"<fair-acquire-failed>", {"fair", Step::undo}},
      {"<read-acquire>", {"read", Step::ask}},    {"<read-unlock>", {"read", Step::release}},
      {"<write-acquire>", {"write", Step::ask}},  {"<write-unlock>", {"write", Step::release}},
      {"<sem-try>", {"semaphore", Step::ask}},    {"<sem-release>", {"semaphore", Step::release}}};

  const bool classic_;
  Interpreter lua_;
  Store store_{kBegin};
  std::int64_t begin_ = 0, at_ = 0, elapsed_ = 0;
  std::set<std::string> known_;
  std::vector<model::Delivery> heard_;
  std::map<int, Words> subscribed_;
};

}  // namespace

TEST_CASE("the explorer's model of Redisson behaves as the recordings of two releases of Redisson show") {
  for (const std::string name : {"lock", "fair", "readwrite", "semaphore", "classic-3.17.7"}) {
    CAPTURE(name);
    std::ifstream file{RLOCK_RECORDINGS "/" + name + ".txt"};
    REQUIRE(file);
    Replay replay{name == "classic-3.17.7"};
    int number = 0;
    for (std::string text; std::getline(file, text);) {
      ++number;
      CAPTURE(number);
      replay.line(text);
    }
    MESSAGE(fmt::format("{}: {} calls, {} snapshots, {} messages", name, replay.calls, replay.snapshots,
                        replay.messages));
    CHECK(replay.calls >= 10);
  }
}
