#include "store.h"

#include <fmt/format.h>

#include <algorithm>

#include "numbers.h"
#include "store_parts.h"

namespace rlock::model {

void Store::advance_to(std::int64_t now, std::int64_t micros) {
  now_ = now;
  micros_ = micros;
  drop_expired();
}

void Store::drop_expired() {
  std::erase_if(values_,
                [&](const auto& one) { return one.second.expires != 0 && now_ > one.second.expires; });
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
  ++commands_;
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
    return Reply{{text(std::to_string(now_ / 1000)), text(std::to_string(now_ % 1000 * 1000 + micros_))}};
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
    const bool only_if_there = words.size() == 4 && words[3] == "xx";
    if (only_if_there && find(words[1]) == nullptr) return Reply{};
    if (words.size() > 3 && !only_if_there) {
      const bool only_if_absent = words.size() == 6 && words[5] == "nx";
      if ((words.size() != 5 && !only_if_absent) || words[3] != "px") return Reply::error("ERR syntax error");
      const auto ttl = integer_in(words[4]);
      if (!ttl) return not_a_number();
      if (*ttl <= 0) return Reply::error("ERR invalid expire time in 'set' command");
      if (only_if_absent && find(words[1]) != nullptr) return Reply{};
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

Reply Store::publish(const std::string& channel, const std::string& message) {
  if (audience_) return number(audience_(channel, message));
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
    for (const auto& [field, content] : value.fields)
      into += fmt::format(" {}={}", field, without_clock(content, now_));
    for (const auto& item : value.items) into += ' ' + item;
    for (const auto& [score, member] : value.members)
      into += fmt::format(" {}@{}", member, without_clock(score_text(score), now_));
    into += '\n';
  }
  for (const auto& [channel, client] : listeners_) into += fmt::format("{} listens to {}\n", client, channel);
}

std::size_t Store::bytes() const {
  std::size_t bytes = 0;
  for (const auto& [key, value] : values_) {
    bytes += key.size() + value.text.size();
    for (const auto& [field, content] : value.fields) bytes += field.size() + content.size();
    for (const auto& item : value.items) bytes += item.size();
    for (const auto& [score, member] : value.members) bytes += sizeof score + member.size();
  }
  return bytes;
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
