// Hashes, lists and sorted sets.

#include <algorithm>

#include "store_parts.h"

namespace rlock::model {

Reply Store::hash_command(const std::string& name, const Arguments& words) {
  Value* value = find(words[1]);
  if (value != nullptr && value->type != Type::hash) throw WrongType{};
  Fields none;
  Fields& fields = value != nullptr ? value->fields : none;
  if (name == "hlen") return number(fields.size());
  if (name == "hget" || name == "hexists" || name == "hstrlen") {
    const std::string* content = fields.find(words[2]);
    if (name == "hexists") return number(content != nullptr ? 1 : 0);
    if (name == "hstrlen") return number(content != nullptr ? content->size() : 0);
    return content != nullptr ? text(*content) : Reply{};
  }
  if (name == "hkeys" || name == "hgetall" || name == "hscan" || name == "hmget") {
    std::vector<Reply> items;
    if (name == "hmget") {
      for (std::size_t i = 2; i < words.size(); ++i) {
        const std::string* content = fields.find(words[i]);
        items.push_back(content != nullptr ? text(*content) : Reply{});
      }
      return Reply{std::move(items)};
    }
    for (const auto& [key, content] : fields) {
      items.push_back(text(key));
      if (name != "hkeys") items.push_back(text(content));
    }
    if (name != "hscan") return Reply{std::move(items)};
    return Reply{{text("0"), Reply{std::move(items)}}};  // with few fields, it always returns all
  }
  if (name == "hdel") {
    std::size_t gone = 0;
    for (std::size_t i = 2; i < words.size(); ++i) gone += fields.erase(words[i]) ? 1 : 0;
    drop_if_empty(words[1]);
    return number(gone);
  }
  if (name == "hset" || name == "hsetnx") {
    Fields& made = make(words[1], Type::hash).fields;
    std::size_t added = 0;
    for (std::size_t i = 2; i < words.size(); i += 2) {
      if (made.add(words[i], words[i + 1])) {
        ++added;
      } else if (name == "hset") {
        *made.find(words[i]) = words[i + 1];
      }
    }
    return number(added);
  }
  if (name == "hincrby") {
    const auto step = integer_in(words[3]);
    if (!step) return not_a_number();
    std::string* content = fields.find(words[2]);
    const auto before = content != nullptr ? integer_in(*content) : 0;
    if (!before) return Reply::error("ERR hash value is not an integer");
    if (content != nullptr) {
      *content = std::to_string(*before + *step);
    } else {
      make(words[1], Type::hash).fields.add(words[2], std::to_string(*step));
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
  if (name == "zcard") return number(members.size());
  if (name == "zscore") {
    const auto score = members.score(words[2]);
    return score ? text(score_text(*score)) : Reply{};
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
    const std::size_t from = members.first_from(least->score, least->excluded);
    const std::size_t to = std::max(from, members.first_from(most->score, !most->excluded));
    if (name == "zcount") return number(to - from);
    if (name == "zremrangebyscore") {
      members.erase(from, to);
      drop_if_empty(words[1]);
      return number(to - from);
    }
    std::vector<Reply> replies;
    for (std::size_t i = from; i < to; ++i) replies.push_back(text(members[i].second));
    return Reply{std::move(replies)};
  }
  if (name == "zrem") {
    std::size_t gone = 0;
    for (std::size_t i = 2; i < words.size(); ++i) gone += members.erase(words[i]) ? 1 : 0;
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
      last = *score + (name == "zincrby" ? made.score(words[i + 1]).value_or(0) : 0);
      added += made.set(words[i + 1], last) ? 1 : 0;
    }
    return name == "zadd" ? number(added) : text(score_text(last));
  }
  return Reply::error("ERR unknown command '" + name + "': add it to tests/model/store.cpp");
}

}  // namespace rlock::model
