#include "base/random.h"
#include "base/owner_id.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <set>
#include <string>

using namespace rlock;
using namespace std::chrono_literals;

namespace {

bool is_uuid(const std::string& text) {
  if (text.size() != 36 || text[14] != '8' || std::string{"89ab"}.find(text[19]) == std::string::npos)
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : std::string{"0123456789abcdef"}.find(text[i]) == std::string::npos)
      return false;
  }
  return true;
}

}  // namespace

TEST_CASE("rlock's owner ids can be told from Redisson's and from typed ones") {
  CHECK(is_of_rlock(new_owner()));
  const Owner theirs{"6e0f0261-922f-4ca9-9275-5cd246e2e294:57"};
  CHECK(has_redisson_form(theirs));
  CHECK_FALSE(is_of_rlock(theirs));
  for (const char* typed : {"ci-42", "", "6e0f0261-922f-8ca9-9275-5cd246e2e294", "somebody:1",
                            "6e0f0261-922f-8ca9-9275-5cd246e2e294:x"}) {
    CHECK_FALSE(has_redisson_form(Owner{typed}));
    CHECK_FALSE(is_of_rlock(Owner{typed}));
  }
}

TEST_CASE("each owner has a UUID of its own, and names the process that holds") {
  const Owner first = new_owner(), second = new_owner(), of_another = new_owner(4711);
  CHECK(is_uuid(first.str().substr(0, 36)));
  CHECK(first.str().substr(0, 36) != second.str().substr(0, 36));
  CHECK(process_in(first) == ::getpid());
  CHECK(process_in(second) == ::getpid());
  CHECK(process_in(of_another) == 4711);
  CHECK_FALSE(process_in(Owner{"6e0f0261-922f-4ca9-9275-5cd246e2e294:57"}));
  CHECK_FALSE(process_in(Owner{"ci-42:7"}));
}

TEST_CASE("a request id is 32 hexadecimal digits") {
  const std::string request = new_request().str();
  CHECK(request.size() == 32);
  CHECK(request.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(new_request() != new_request());
}

TEST_CASE("a random number stays below its bound and reaches everything below it") {
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 1000; ++round) seen.insert(random_below(5));
  CHECK(seen == std::set<std::uint64_t>{0, 1, 2, 3, 4});
  CHECK(random_below(0) == 0);
  CHECK(random_below(1) == 0);
  for (int round = 0; round < 100; ++round) CHECK(random_below(UINT64_MAX) < UINT64_MAX);
}

TEST_CASE("jitter includes both ends of its span") {
  std::set<Milliseconds> seen;
  for (int round = 0; round < 1000; ++round) seen.insert(jitter(2ms));
  CHECK(seen == std::set<Milliseconds>{0ms, 1ms, 2ms});
  CHECK(jitter(0ms) == 0ms);
  CHECK(jitter(-1s) == 0ms);
}
