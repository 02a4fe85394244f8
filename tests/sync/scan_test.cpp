#include "sync/watch/scan.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace rlock;

namespace {

/// The words of a step behind COUNT and its number.
std::vector<std::string> chosen(ScanPass pass, const std::string& prefix) {
  const std::vector<std::string> words = scan_step(pass, "0", prefix, "").args;
  return {words.begin() + 4, words.end()};
}

Scanned found(ScanPass pass, const std::vector<std::string>& keys) {
  std::vector<Reply> items;
  for (const std::string& key : keys) items.emplace_back(key);
  return read_step(pass, Reply{std::vector{Reply{"17"}, Reply{std::move(items)}}});
}

using Words = std::vector<std::string>;
using Names = std::vector<LockName>;

}  // namespace

TEST_CASE("each pass of a scan asks for its own keys, and a prefix is no pattern") {
  CHECK(chosen(ScanPass::facts, "a") == Words{"MATCH", "rlock:meta:*"});
  CHECK(chosen(ScanPass::texts, "") == Words{"TYPE", "string"});
  CHECK(chosen(ScanPass::hashes, "a*[b]?\\") == Words{"MATCH", "a\\*\\[b\\]\\?\\\\*", "TYPE", "hash"});
}

TEST_CASE("the content of a key is asked for by the type of its pass") {
  const auto type = [](ScanPass pass) { return ask_content(pass, {LockName{"k"}}).args.front(); };
  CHECK(type(ScanPass::hashes) == "hash");
  CHECK(type(ScanPass::texts) == "string");
  CHECK(type(ScanPass::named) == "any");
}

TEST_CASE("a scan finds a lock by the keys beside it, whatever braces its name has") {
  const Scanned seen =
      found(ScanPass::hashes, {"rlock:meta:{a}", "rlock:meta:x{b}y", "redisson_lock_token:{c}", "rlock:meta",
                               "rlock:meta:", "rlock:metas:{e}", "d"});
  CHECK(seen.cursor == "17");
  CHECK(seen.names == Names{LockName{"a"}, LockName{"x{b}y"}, LockName{"c"}});
  CHECK(seen.doubtful == Names{LockName{"d"}});
  CHECK(found(ScanPass::facts, {"d"}).doubtful.empty());
}
