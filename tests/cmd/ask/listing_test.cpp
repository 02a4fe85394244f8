// Listings over a Redis that answers from a list.

#include "cmd/ask/listing.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "support/found_keys.h"
#include "support/list_redis.h"

using namespace rlock;
using namespace rlock::test;

namespace {

/// The reply to inspect/key about a key that does not exist. It also says that there are no facts and no listeners.
Reply absent() {
  const Reply nothing{std::vector<Reply>{}};
  return Reply{std::vector<Reply>{Reply{1}, Reply{"none"}, Reply{-2}, nothing, nothing, nothing, nothing,
                                  nothing, nothing, nothing, Reply{0}, Reply{0}, nothing}};
}

/// A server with so many keys.
struct Many {
  explicit Many(int keys) {
    std::vector<std::string> scan;
    for (int i = 1; i <= keys; ++i) scan.push_back(beside(i));
    redis.answers(scanned("0", scan));
  }

  /// Asks about an absent key: for its facts, itself and its listeners.
  void answer_about(int keys) {
    for (int i = 0; i < 3 * keys; ++i) redis.answers(absent());
  }

  ListRedis redis{};
  Session session{servers_of(redis), redis};
};

constexpr Milliseconds kTime{10'000};

}  // namespace

TEST_CASE("more keys than a page takes come on several, in natural order") {
  Many many{1001};
  many.answer_about(1001);
  std::vector<LockName> names;
  std::vector<bool> last;
  const Listing listing = list_pages(many.session, {}, kTime, [&](const Page& page) {
    for (const Inspection& seen : page.seen) names.push_back(seen.name);
    last.push_back(page.last);
    return true;
  });
  CHECK(last == std::vector<bool>{false, true});
  REQUIRE(names.size() == 1001);
  CHECK(names[1] == named(2));
  CHECK(names[1000] == named(1001));
  CHECK(listing.complete);
}

TEST_CASE("a listing whose time is over shows what was read until then") {
  Many many{1001};
  many.answer_about(1001);
  const Listing listing = list_pages(many.session, {}, kTime, [&](const Page&) {
    many.redis.loop().tick(kTime);
    return true;
  });
  CHECK(listing.cut_short == CutShort::late);
  CHECK_FALSE(listing.complete);
}

TEST_CASE("a listing ends at the first key if the server does not answer") {
  Many many{1001};
  CHECK_THROWS_AS(list_found(many.session, {}, kTime), Error);
  CHECK(many.redis.log.size() < 100);
}
