#include "sync/watch/scan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "support/process.h"

using namespace rlock;
using namespace rlock::test;

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

TEST_CASE("a scan takes only those braces from a name that rlock has put around it") {
  CHECK(found(ScanPass::facts,
              {"rlock:meta:{a}b}", "rlock:meta:{a}{b}", "rlock:meta:{}", "rlock:meta:{", "rlock:meta:a}"})
            .names ==
        Names{LockName{"a}b"}, LockName{"{a}{b}"}, LockName{"{}"}, LockName{"{"}, LockName{"a}"}});
}

TEST_CASE("a name without braces may also be written with them, and any other name has one form") {
  CHECK(other_name(LockName{"k"}) == LockName{"{k}"});
  CHECK(other_name(LockName{"{k}"}).empty());
  CHECK(other_name(LockName{"a{b"}).empty());
}

TEST_CASE("a scan keeps the keys whose content may be a synchronizer's") {
  const std::string redisson = "lock:0f9a1b2c-3d4e-5f60-7182-93a4b5c6d7e8:57";
  const Names names{LockName{"a"}, LockName{"b"}, LockName{"c"}, LockName{"d"},
                    LockName{"e"}, LockName{"f"}, LockName{"g"}, LockName{"h"}};
  const Reply contents{std::vector{Reply{"there"}, Reply{"number"}, Reply{"read-write"}, Reply{"group"},
                                   Reply{redisson}, Reply{"lock:another"}, Reply{"none"}, Reply{""}}};
  CHECK(read_content(names, contents) ==
        Names{LockName{"a"}, LockName{"b"}, LockName{"c"}, LockName{"d"}, LockName{"e"}});
}
