#include "fuzz/properties.h"

#include <string>

#include "base/text.h"
#include "base/time.h"
#include "fuzz/must.h"
#include "redis/connection/target.h"
#include "support/contains.h"
#include "sync/calls/keys.h"

namespace rlock::test {
namespace {

std::string_view hashed_part(std::string_view key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  return close == key.npos || close == open + 1 ? key : key.substr(open + 1, close - open - 1);
}

}  // namespace

void check_target(std::string_view bytes) {
  const auto target = attempt([&] { return parse_target(bytes); });
  if (!target) return;
  must(harmless(target->str()), "a target prints harmlessly");
  for (const std::string& text : {target->str(), target->url()}) {
    const Target again = parse_target(text);
    must(again.addresses == target->addresses && again.master == target->master && again.db == target->db &&
             again.topology == target->topology && again.tls.on == target->tls.on,
         "a target that is printed and read is the same place");
  }
  must(parse_target(target->url()).user == target->user, "a URL keeps the user");
  must(parse_target(target->str()).str() == target->str(), "a target prints as it was printed");
  must(target->topology == Target::Topology::local || !target->addresses.empty(), "there is an address");
}

void check_duration(std::string_view bytes) {
  const auto duration = attempt([&] { return parse_duration(bytes); });
  if (!duration) return;
  must(*duration >= Milliseconds::zero() && *duration <= kLongest, "a duration is within its bounds");
  must(parse_duration(exact(*duration)) == *duration, "what is written exactly is read back");
  must(harmless(describe(*duration)), "a description is harmless");
}

void check_sanitized(std::string_view bytes) {
  const std::string text = sanitized(bytes, bytes.size());
  must(harmless(text), "sanitized text is harmless");
  must(sanitized(text, text.size()) == text, "sanitizing twice changes nothing");
  must(text.size() <= 4 * bytes.size(), "a byte takes at most four");
  must(sanitized(bytes, 20).size() <= 4 * 20 + 3, "what is cut is short");
  must(utf8(utf8(bytes)) == utf8(bytes), "UTF-8 stays as it is");
  must(from_hex(to_hex(bytes)) == bytes, "hexadecimal goes there and back");
}

void check_names(std::string_view bytes) {
  if (bytes.empty()) return;
  const LockName name{std::string{bytes}};
  bool together = true;
  for (const std::string& key :
       {prefix_name("redisson_lock_queue", name), suffix_name(name, "timeout"), metadata_key(name)}) {
    must(contains(key, bytes), "a derived name contains the key");
    together = together && hashed_part(key) == hashed_part(bytes);
  }
  must(placeable(name) == together, "placeable means one slot");
}

}  // namespace rlock::test
