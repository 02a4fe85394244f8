#include "store.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace rlock::model {
namespace {

struct WrongType {};

std::optional<std::int64_t> integer_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::optional<double> score_in(std::string_view text) {
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "+inf" || text == "inf") return std::numeric_limits<double>::infinity();
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

std::string score_text(double score) { return fmt::format("{:.17g}", score); }

Reply text(const std::string& value) { return Reply{value}; }
Reply number(std::size_t value) { return Reply{static_cast<std::int64_t>(value)}; }
Reply not_a_number() { return Reply::error("ERR value is not an integer or out of range"); }
Reply ok() { return Reply{"OK", Reply::Kind::status}; }

/// From `first` to `last`, from the end where below zero, as LRANGE and its like count.
std::pair<std::size_t, std::size_t> range(std::int64_t first, std::int64_t last, std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (first < 0) first = std::max<std::int64_t>(length + first, 0);
  if (last < 0) last = length + last;
  last = std::min(last, length - 1);
  if (first > last) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last + 1)};
}

struct Bound {
  double score;
  bool excluded;
};

std::optional<Bound> bound_in(std::string_view text) {
  const bool excluded = text.starts_with('(');
  const auto score = score_in(text.substr(excluded ? 1 : 0));
  if (!score) return std::nullopt;
  return Bound{*score, excluded};
}

}  // namespace

struct Store::Arguments {
  const Words& words;
  const std::string& operator[](std::size_t index) const { return words.at(index); }
  std::size_t size() const { return words.size(); }
};

std::string without_clock(std::string_view text, std::int64_t now) {
  constexpr std::int64_t kNear = 100'000'000'000;  // three years
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    const std::size_t digits = end - at;
    const std::int64_t value = digits == 13 || digits == 16 ? integer_in(text.substr(at, digits)).value_or(0) : 0;
    if (digits == 13 && std::abs(value - now) < kNear) {
      result += fmt::format("<{}ms>", value - now);
    } else if (digits == 16 && std::abs(value / 1000 - now) < kNear) {
      result += fmt::format("<{}us>", value - now * 1000);
    } else {
      result += text.substr(at, std::max<std::size_t>(digits, 1));
    }
    at += std::max<std::size_t>(digits, 1);
  }
  return result;
}

void Store::advance_to(std::int64_t now) {
  now_ = now;
  drop_expired();
}

void Store::drop_expired() {
  std::erase_if(values_, [&](const auto& one) { return one.second.expires != 0 && now_ > one.second.expires; });
}

Store::Value* Store::find(const std::string& key) {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

Store::Value& Store::make(const std::string& key, Type type) {
  const auto [found, made] = values_.try_emplace(key);
  if (made) found->second.type = type;
  if (found->second.type != type) throw WrongType{};
  return found->second;
}

void Store::drop_if_empty(const std::string& key) {
  const Value* value = find(key);
  if (value == nullptr || value->type == Type::string) return;
  if (value->fields.empty() && value->items.empty() && value->members.empty()) values_.erase(key);
}

Reply Store::call(const Words& words) {
  if (words.empty()) return Reply::error("ERR no command");
  std::string name = words[0];
  std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  const Arguments arguments{words};
  try {
    if (name.starts_with('h')) return hash_command(name, arguments);
    if (name.starts_with('z')) return zset_command(name, arguments);
    if (name == "publish" || name == "spublish") return publish(arguments[1], arguments[2]);
    if (name.starts_with('l') || name == "rpush") return list_command(name, arguments);
    if (const Reply reply = keys_command(name, arguments); !reply.is_error("NOT_HERE")) return reply;
    return string_command(name, arguments);
  } catch (const WrongType&) {
    return Reply::error("WRONGTYPE Operation against a key holding the wrong kind of value");
  } catch (const std::out_of_range&) {
    return Reply::error("ERR wrong number of arguments for '" + name + "' command");
  }
}

Reply Store::keys_command(const std::string& name, const Arguments& words) {
  if (name == "time") {
    return Reply{{text(std::to_string(now_ / 1000)), text(std::to_string(now_ % 1000 * 1000))}};
  }
  if (name == "del" || name == "unlink") {
    std::size_t gone = 0;
    for (std::size_t i = 1; i < words.size(); ++i) gone += values_.erase(words[i]);
    return number(gone);
  }
  if (name == "exists") {
    std::size_t there = 0;
    for (std::size_t i = 1; i < words.size(); ++i) there += find(words[i]) != nullptr ? 1 : 0;
    return number(there);
  }
  if (name == "type") {
    constexpr const char* kNames[] = {"string", "hash", "list", "zset"};
    const Value* value = find(words[1]);
    return Reply{value != nullptr ? kNames[static_cast<int>(value->type)] : "none", Reply::Kind::status};
  }
  if (name == "pttl") {
    const Value* value = find(words[1]);
    if (value == nullptr) return Reply{std::int64_t{-2}};
    return Reply{value->expires == 0 ? -1 : std::max<std::int64_t>(value->expires - now_, 0)};
  }
  if (name == "pexpire") {
    const auto ttl = integer_in(words[2]);
    if (!ttl) return not_a_number();
    Value* value = find(words[1]);
    if (value == nullptr) return number(0);
    if (*ttl <= 0) {
      values_.erase(words[1]);
    } else {
      value->expires = now_ + *ttl;
    }
    return number(1);
  }
  return Reply::error("NOT_HERE");
}

Reply Store::string_command(const std::string& name, const Arguments& words) {
  if (name == "set") {
    std::int64_t expires = 0;
    if (words.size() > 3) {
      if (words.size() != 5 || words[3] != "px") return Reply::error("ERR syntax error");
      const auto ttl = integer_in(words[4]);
      if (!ttl) return not_a_number();
      if (*ttl <= 0) return Reply::error("ERR invalid expire time in 'set' command");
      expires = now_ + *ttl;
    }
    values_[words[1]] = {.type = Type::string, .expires = expires, .text = words[2]};
    return ok();
  }
  Value* value = find(words[1]);
  if (value != nullptr && value->type != Type::string) throw WrongType{};
  if (name == "get") return value != nullptr ? text(value->text) : Reply{};
  if (name == "strlen") return number(value != nullptr ? value->text.size() : 0);
  if (name == "getrange") {
    if (value == nullptr) return text("");
    const auto first = integer_in(words[2]), last = integer_in(words[3]);
    if (!first || !last) return not_a_number();
    const auto [from, to] = range(*first, *last, value->text.size());
    return text(value->text.substr(from, to - from));
  }
  std::int64_t step = 1;
  if (name == "incrby" || name == "decrby") {
    const auto given = integer_in(words[2]);
    if (!given) return not_a_number();
    step = *given;
  }
  if (name == "incr" || name == "incrby") return add(words[1], step);
  if (name == "decr" || name == "decrby") return add(words[1], -step);
  return Reply::error("ERR unknown command '" + name + "': add it to tests/model/store.cpp");
}

Reply Store::add(const std::string& key, std::int64_t step) {
  Value& value = make(key, Type::string);
  const auto before = integer_in(value.text.empty() ? "0" : value.text);
  if (!before) return not_a_number();
  value.text = std::to_string(*before + step);
  return Reply{*before + step};
}

Reply Store::hash_command(const std::string& name, const Arguments& words) {
  Value* value = find(words[1]);
  if (value != nullptr && value->type != Type::hash) throw WrongType{};
  Fields none;
  Fields& fields = value != nullptr ? value->fields : none;
  const auto field = [&](const std::string& wanted) {
    return std::ranges::find(fields, wanted, &Fields::value_type::first);
  };
  if (name == "hlen") return number(fields.size());
  if (name == "hget" || name == "hexists" || name == "hstrlen") {
    const auto found = field(words[2]);
    const bool there = found != fields.end();
    if (name == "hexists") return number(there ? 1 : 0);
    if (name == "hstrlen") return number(there ? found->second.size() : 0);
    return there ? text(found->second) : Reply{};
  }
  if (name == "hkeys" || name == "hgetall" || name == "hscan" || name == "hmget") {
    std::vector<Reply> items;
    if (name == "hmget") {
      for (std::size_t i = 2; i < words.size(); ++i) {
        const auto found = field(words[i]);
        items.push_back(found != fields.end() ? text(found->second) : Reply{});
      }
      return Reply{std::move(items)};
    }
    for (const auto& [key, content] : fields) {
      items.push_back(text(key));
      if (name != "hkeys") items.push_back(text(content));
    }
    if (name != "hscan") return Reply{std::move(items)};
    return Reply{{text("0"), Reply{std::move(items)}}};  // few fields: always all at once
  }
  if (name == "hdel") {
    std::size_t gone = 0;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto found = field(words[i]);
      if (found == fields.end()) continue;
      fields.erase(found);
      ++gone;
    }
    drop_if_empty(words[1]);
    return number(gone);
  }
  if (name == "hset" || name == "hsetnx") {
    Fields& made = make(words[1], Type::hash).fields;
    std::size_t added = 0;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      const auto found = std::ranges::find(made, words[i], &Fields::value_type::first);
      if (found == made.end()) {
        made.emplace_back(words[i], words[i + 1]);
        ++added;
      } else if (name == "hset") {
        found->second = words[i + 1];
      }
    }
    return number(added);
  }
  if (name == "hincrby") {
    const auto step = integer_in(words[3]);
    if (!step) return not_a_number();
    const auto found = field(words[2]);
    const auto before = found != fields.end() ? integer_in(found->second) : 0;
    if (!before) return Reply::error("ERR hash value is not an integer");
    if (found != fields.end()) {
      found->second = std::to_string(*before + *step);
    } else {
      make(words[1], Type::hash).fields.emplace_back(words[2], std::to_string(*step));
    }
    return Reply{*before + *step};
  }
  return Reply::error("ERR unknown command '" + name + "': add it to tests/model/store.cpp");
}

Reply Store::list_command(const std::string& name, const Arguments& words) {
  Value* value = find(words[1]);
  if (value != nullptr && value->type != Type::list) throw WrongType{};
  Words none;
  Words& items = value != nullptr ? value->items : none;
  if (name == "llen") return number(items.size());
  if (name == "lrange") {
    const auto first = integer_in(words[2]), last = integer_in(words[3]);
    if (!first || !last) return not_a_number();
    std::vector<Reply> replies;
    const auto [from, to] = range(*first, *last, items.size());
    for (std::size_t i = from; i < to; ++i) replies.push_back(text(items[i]));
    return Reply{std::move(replies)};
  }
  if (name == "lindex") {
    const auto index = integer_in(words[2]);
    if (!index) return not_a_number();
    const std::int64_t at = *index < 0 ? static_cast<std::int64_t>(items.size()) + *index : *index;
    if (at < 0 || at >= static_cast<std::int64_t>(items.size())) return Reply{};
    return text(items[static_cast<std::size_t>(at)]);
  }
  if (name == "lpos") {
    const auto found = std::ranges::find(items, words[2]);
    return found == items.end() ? Reply{} : number(static_cast<std::size_t>(found - items.begin()));
  }
  if (name == "rpush" || name == "lpush") {
    Words& made = make(words[1], Type::list).items;
    for (std::size_t i = 2; i < words.size(); ++i)
      made.insert(name == "rpush" ? made.end() : made.begin(), words[i]);
    return number(made.size());
  }
  if (name == "lpop") {
    if (items.empty()) return Reply{};
    const std::string head = items.front();
    items.erase(items.begin());
    drop_if_empty(words[1]);
    return text(head);
  }
  if (name == "lrem") {
    if (words[2] != "0") return Reply::error("ERR only LREM of all is known here");
    const std::size_t gone = std::erase(items, words[3]);
    drop_if_empty(words[1]);
    return number(gone);
  }
  return Reply::error("ERR unknown command '" + name + "': add it to tests/model/store.cpp");
}

Reply Store::zset_command(const std::string& name, const Arguments& words) {
  Value* value = find(words[1]);
  if (value != nullptr && value->type != Type::zset) throw WrongType{};
  Members none;
  Members& members = value != nullptr ? value->members : none;
  const auto member = [&](const std::string& wanted) {
    return std::ranges::find(members, wanted, &Members::value_type::second);
  };
  if (name == "zcard") return number(members.size());
  if (name == "zscore") {
    const auto found = member(words[2]);
    return found != members.end() ? text(score_text(found->first)) : Reply{};
  }
  if (name == "zrange") {
    const auto first = integer_in(words[2]), last = integer_in(words[3]);
    if (!first || !last) return not_a_number();
    const auto [from, to] = range(*first, *last, members.size());
    std::vector<Reply> replies;
    for (std::size_t i = from; i < to; ++i) {
      replies.push_back(text(members[i].second));
      if (words.size() > 4) replies.push_back(text(score_text(members[i].first)));
    }
    return Reply{std::move(replies)};
  }
  if (name == "zcount" || name == "zrangebyscore" || name == "zremrangebyscore") {
    const auto least = bound_in(words[2]), most = bound_in(words[3]);
    if (!least || !most) return Reply::error("ERR min or max is not a float");
    const auto inside = [&](const Members::value_type& one) {
      const bool above = least->excluded ? one.first > least->score : one.first >= least->score;
      return above && (most->excluded ? one.first < most->score : one.first <= most->score);
    };
    if (name == "zremrangebyscore") {
      const std::size_t gone = std::erase_if(members, inside);
      drop_if_empty(words[1]);
      return number(gone);
    }
    std::vector<Reply> replies;
    for (const auto& one : members)
      if (inside(one)) replies.push_back(text(one.second));
    return name == "zcount" ? number(replies.size()) : Reply{std::move(replies)};
  }
  if (name == "zrem") {
    std::size_t gone = 0;
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto found = member(words[i]);
      if (found == members.end()) continue;
      members.erase(found);
      ++gone;
    }
    drop_if_empty(words[1]);
    return number(gone);
  }
  if (name == "zadd" || name == "zincrby") {
    Members& made = make(words[1], Type::zset).members;
    std::size_t added = 0;
    double last = 0;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      const auto score = score_in(words[i]);
      if (!score) return Reply::error("ERR value is not a valid float");
      const auto found = std::ranges::find(made, words[i + 1], &Members::value_type::second);
      last = *score + (name == "zincrby" && found != made.end() ? found->first : 0);
      if (found != made.end()) {
        found->first = last;
      } else {
        made.emplace_back(last, words[i + 1]);
        ++added;
      }
    }
    std::ranges::sort(made);
    return name == "zadd" ? number(added) : text(score_text(last));
  }
  return Reply::error("ERR unknown command '" + name + "': add it to tests/model/store.cpp");
}

Reply Store::publish(const std::string& channel, const std::string& message) {
  std::size_t heard = 0;
  for (const auto& [where, client] : listeners_) {
    if (where != channel) continue;
    deliveries_.push_back({client, channel, message});
    ++heard;
  }
  return number(heard);
}

void Store::listen(int client, const std::string& channel) {
  if (listens(client, channel)) return;
  listeners_.emplace_back(channel, client);
  std::ranges::sort(listeners_);
}

void Store::stop_listening(int client) {
  std::erase_if(listeners_, [&](const auto& one) { return one.second == client; });
}

bool Store::listens(int client, const std::string& channel) const {
  return std::ranges::find(listeners_, std::pair{channel, client}) != listeners_.end();
}

void Store::describe(std::string& into) const {
  for (const auto& [key, value] : values_) {
    into += fmt::format("{} {}", key, value.expires == 0 ? -1 : value.expires - now_);
    into += ' ' + without_clock(value.text, now_);
    for (const auto& [field, content] : value.fields) into += fmt::format(" {}={}", field, without_clock(content, now_));
    for (const auto& item : value.items) into += ' ' + item;
    for (const auto& [score, member] : value.members)
      into += fmt::format(" {}@{}", member, without_clock(score_text(score), now_));
    into += '\n';
  }
  for (const auto& [channel, client] : listeners_) into += fmt::format("{} listens to {}\n", client, channel);
}

std::vector<std::string> Store::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

bool Store::has_ttl(const std::string& key) const { return values_.at(key).expires != 0; }

std::int64_t Store::next_expiry() const {
  std::int64_t next = 0;
  for (const auto& [key, value] : values_)
    if (value.expires != 0 && (next == 0 || value.expires < next)) next = value.expires;
  return next;
}

}  // namespace rlock::model
