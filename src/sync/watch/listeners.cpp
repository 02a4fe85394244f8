#include "sync/watch/listeners.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace rlock {

Call count_listeners(const LockName& name, const Channel& channel) {
  return command({"PUBSUB", "NUMSUB", channel.str()}, name.str());
}

Call count_listeners(const Inspection& inspection) {
  return count_listeners(inspection.name, inspection.channel());
}

std::int64_t read_listeners(const Reply& reply) {
  if (reply.kind() != Reply::Kind::array) return 0;
  const Reply& count = reply.at(1);
  return count.kind() == Reply::Kind::integer ? std::max<std::int64_t>(count.integer(), 0) : 0;
}

Call ask_listeners() { return with_large_reply(command({"CLIENT", "LIST", "TYPE", "pubsub"})); }

std::vector<std::string> read_names(const Reply& reply) {
  constexpr std::string_view kName = " name=";
  std::set<std::string> names;
  if (reply.kind() != Reply::Kind::text) return {};
  for (const std::string& line : split(reply.text(), '\n')) {
    const std::size_t at = line.find(kName);
    if (at == std::string::npos) continue;
    const std::size_t begin = at + kName.size();
    std::string name = line.substr(begin, line.find(' ', begin) - begin);
    if (!name.empty()) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

}  // namespace rlock
