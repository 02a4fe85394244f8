// Hashes, lists and sorted sets.

#include <algorithm>

#include "store_parts.h"

namespace rlock::model {

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

}  // namespace rlock::model
