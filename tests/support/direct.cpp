#include "support/direct.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "base/text.h"

namespace rlock::test {

Direct::Direct(const RedisServer& server) : fd_(connect_to(server.where())) {
  if (fd_ < 0) throw std::runtime_error{"cannot connect to the server of the test"};
}

Direct::~Direct() { ::close(fd_); }

Reply Direct::run(const Call& call) {
  std::vector<std::string> words = call.args;
  if (call.script != nullptr) {
    words = {"EVAL", std::string{call.script->source}, std::to_string(call.keys.size())};
    words.insert(words.end(), call.keys.begin(), call.keys.end());
    words.insert(words.end(), call.args.begin(), call.args.end());
  }
  return command(words);
}

std::pair<Reply, Reply> Direct::twice(const Call& call) {
  Reply first = run(call);
  return {std::move(first), run(call)};
}

Reply Direct::command(const std::vector<std::string>& words) {
  const std::string text = encoded(words);
  if (::send(fd_, text.data(), text.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(text.size()))
    throw std::runtime_error{"the server of the test hung up"};
  for (;;) {
    if (auto item = reader_.next()) return std::move(item->reply);
    char buffer[65536];
    const auto got = ::read(fd_, buffer, sizeof buffer);
    if (got <= 0) throw std::runtime_error{"the server of the test hung up"};
    reader_.feed({buffer, static_cast<std::size_t>(got)});
  }
}

std::string written(const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::nil: return "nil";
    case Reply::Kind::integer: return reply.text();
    case Reply::Kind::error: return "!" + reply.text();
    case Reply::Kind::text:
    case Reply::Kind::status: return "'" + sanitized(reply.text(), 100000) + "'";
    case Reply::Kind::array: {
      std::vector<std::string> items;
      for (const Reply& item : reply.items()) items.push_back(written(item));
      return "[" + joined(items, ", ") + "]";
    }
  }
  return "?";
}

namespace {

Call command_that_shows(const std::string& type, const std::string& key) {
  if (type == "string") return command({"GET", key});
  if (type == "hash") return command({"HGETALL", key});
  if (type == "list") return command({"LRANGE", key, "0", "-1"});
  if (type == "zset") return command({"ZRANGE", key, "0", "-1", "WITHSCORES"});
  if (type == "set") return command({"SORT", key, "ALPHA"});
  return command({"XRANGE", key, "-", "+"});
}

}  // namespace

std::string contents(Direct& redis, const std::string& pattern) {
  std::vector<std::string> lines;
  const Reply keys = redis.run(command({"KEYS", pattern}));
  for (const Reply& key : keys.items()) {
    const std::string type = redis.run(command({"TYPE", key.text()})).text();
    const bool ends = redis.run(command({"PTTL", key.text()})).integer() >= 0;
    lines.push_back(sanitized(key.text()) + (ends ? " (ends) " : " (stays) ") + type + " " +
                    written(redis.run(command_that_shows(type, key.text()))));
  }
  std::ranges::sort(lines);
  return joined(lines, "\n");
}

}  // namespace rlock::test
