#include "sync/watch/scan.h"

#include <array>
#include <optional>

#include "base/owner_id.h"
#include "base/text.h"
#include "scripts.h"
#include "sync/calls/keys.h"

namespace rlock {
namespace {

/// The prefixes of keys beside a lock that contain its name. The token of a fenced lock outlives the lock, so a search
/// finds the name of a lock that is free.
constexpr std::array<std::string_view, 2> kPrefixes{kMetadataPrefix, kTokenPrefix};

/// The reverse of prefix_name(). Empty: it is no such key.
std::optional<LockName> name_beside(std::string_view prefix, const std::string& key) {
  if (key.size() <= prefix.size() + 1 || !key.starts_with(prefix) || key[prefix.size()] != ':')
    return std::nullopt;
  std::string name = key.substr(prefix.size() + 1);
  // Braces around a name that has no others are those of the hash tag.
  if (name.size() > 2) {
    LockName inner{name.substr(1, name.size() - 2)};
    if (prefix_name(prefix, inner) == key) return inner;
  }
  return LockName{std::move(name)};
}

/// Is it a key beside a lock, or of a reader's hold, and no lock itself?
bool is_beside(const std::string& key) {
  return key.starts_with("redisson_") || key.starts_with("rlock:") ||
         key.find(":rwlock_timeout:") != std::string::npos;
}

/// A pattern that matches exactly the names that begin with `prefix`.
std::string pattern_of(const std::string& prefix) { return escaped(prefix, "*?[]\\") + "*"; }

bool is_of_ours(std::string_view content) {
  constexpr std::string_view kLock = "lock:";
  if (content.starts_with(kLock)) return has_redisson_form(Owner{std::string{content.substr(kLock.size())}});
  return content == "there" || content == "number" || content == "read-write" || content == "group";
}

}  // namespace

Call scan_step(ScanPass pass, const std::string& cursor, const std::string& prefix, const std::string& node) {
  std::vector<std::string> words{"SCAN", cursor, "COUNT", "1000"};
  if (pass == ScanPass::facts) {
    words.insert(words.end(), {"MATCH", std::string{kMetadataPrefix} + ":*"});
  } else {
    if (!prefix.empty()) words.insert(words.end(), {"MATCH", pattern_of(prefix)});
    words.insert(words.end(), {"TYPE", pass == ScanPass::texts ? "string" : "hash"});
  }
  return with_large_reply(command(std::move(words), node));
}

Scanned read_step(ScanPass pass, const Reply& reply) {
  Scanned scanned{.cursor = reply.at(0).text(), .names = {}, .doubtful = {}};
  for (const Reply& item : reply.at(1).items()) {
    LockName key{item.text()};
    for (const std::string_view prefix : kPrefixes)
      if (auto name = name_beside(prefix, key.str())) scanned.names.push_back(*std::move(name));
    if (pass != ScanPass::facts && !key.empty() && !is_beside(key.str()))
      scanned.doubtful.push_back(std::move(key));
  }
  return scanned;
}

LockName other_name(const LockName& name) {
  return name.str().find('{') == std::string::npos ? LockName{"{" + name.str() + "}"} : LockName{};
}

Call ask_content(ScanPass pass, const std::vector<LockName>& names) {
  Call call{.script = &scripts::inspect_content};
  for (const LockName& name : names) call.keys.edit().push_back(name.str());
  call.args.edit().emplace_back(pass == ScanPass::hashes  ? "hash"
                                : pass == ScanPass::texts ? "string"
                                                          : "any");
  return with_large_reply(std::move(call));
}

std::vector<LockName> read_content(const std::vector<LockName>& names, const Reply& reply) {
  std::vector<LockName> ours;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (is_of_ours(reply.at(i).text())) ours.push_back(names[i]);
  return ours;
}

}  // namespace rlock
