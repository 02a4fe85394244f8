#include "trace.h"

#include <fmt/format.h>

namespace rlock::model {
namespace {

/// The text as one word of a shell command. (It is not called `quoted`: a newer <chrono> brings std::quoted,
/// which is found by its arguments.)
std::string shell_word(std::string_view text) {
  if (!text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:_-./,") ==
          std::string_view::npos)
    return std::string{text};
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
  return result + "'";
}

}  // namespace

std::string command_line(const Call& call) {
  const bool ours = !call.script->name.starts_with("redisson/");
  std::string line =
      ours ? fmt::format("call {} {}", call.script->name, call.keys.size())
           : fmt::format("$REDIS eval {} {}", shell_word(call.script->source), call.keys.size());
  for (const auto* words : {&call.keys, &call.args})
    for (const std::string& word : *words) line += ' ' + shell_word(word);
  return line;
}

std::string written(const Reply& reply) {
  switch (reply.kind()) {
    case Reply::Kind::nil: return "nil";
    case Reply::Kind::integer: return std::to_string(reply.integer());
    case Reply::Kind::error: return "!" + reply.text();
    case Reply::Kind::text:
    case Reply::Kind::status: return "'" + reply.text() + "'";
    case Reply::Kind::array: break;
  }
  std::string items;
  for (const Reply& item : reply.items()) items += (items.empty() ? "" : ", ") + written(item);
  return "[" + items + "]";
}

std::string script_of(const std::vector<std::string>& lines) {
  std::string text =
      "#!/bin/sh\n"
      "# Against an empty server of your own: $REDIS says which, and $RLOCK whose scripts are meant.\n"
      "REDIS=${REDIS:-redis-cli}\n"
      "call() {\n"
      "  script=$(\"${RLOCK:-rlock}\" scripts show \"$1\") && shift && $REDIS eval \"$script\" \"$@\"\n"
      "}\n";
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace rlock::model
