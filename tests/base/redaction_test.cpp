// Secrets are kept out of all texts. A process remembers every password until it ends, so each test uses a
// password of its own.

#include "base/redaction.h"

#include <doctest/doctest.h>

#include "base/text.h"
#include "cmd/cli/json.h"
#include "redis/connection/target.h"
#include "support/contains.h"
#include "support/process.h"
#include "sync/records/metadata.h"

using namespace rlock;
using namespace rlock::test;

TEST_CASE("a kept password becomes three stars, wherever it stands and however often") {
  keep_secret("Tr0ub4dor");
  CHECK(redacted("Tr0ub4dor, xTr0ub4dorx and Tr0ub4do") == "***, x***x and Tr0ub4do");
  CHECK(redacted_line("Tr0ub4dor") == "***");
  CHECK(sanitized("Tr0ub4dor\n") == "***\\x0a");
  CHECK(shell_quoted("a Tr0ub4dor") == "'a ***'");
  CHECK(Json{"Tr0ub4dor"}.str() == "\"***\"");
}

TEST_CASE("a password that is the beginning of another one does not show the other one's end") {
  keep_secret("8begin8");
  keep_secret("8begin8-and-end");
  CHECK(redacted("8begin8-and-end 8begin8") == "*** ***");
}

TEST_CASE("a password is not shown in part where a text is cut, nor where it is escaped") {
  keep_secret("9\x01\"cut-short\\");
  CHECK(sanitized("1239\x01\"cut-short\\456", 5) == "123**...");
  CHECK(sanitized("9\x01\"cut-short\\") == "***");
  CHECK(Json{"9\x01\"cut-short\\"}.str() == "\"***\"");
}

TEST_CASE("a long password is not shown in part where a server has cut it") {
  keep_secret("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0");
  CHECK(redacted("unknown command 'AUTH', with args beginning with: 'eyJhbGciOiJIUzI1NiIsInR5'") ==
        "unknown command 'AUTH', with args beginning with: '***'");
  CHECK(redacted("eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0 eyJhbGciOiJIUzI1") == "*** ***");
}

TEST_CASE("a password of less than four bytes is replaced where it stands alone") {
  keep_secret("q7");
  CHECK(redacted("q7 is 'q7', not aq7 or q71") == "*** is '***', not aq7 or q71");
  CHECK(redacted_line("q7") == "q7");
  keep_secret("");
  CHECK(redacted("") == "");
}

TEST_CASE("a password that is also a word of ours is hidden in quoted texts, and not in our own") {
  keep_secret("renews");
  CHECK(redacted("the key 'renews'") == "the key '***'");
  CHECK(redacted_line("nobody renews it") == "nobody renews it");
  CHECK(Json::word("renews").str() == "\"renews\"");
}

TEST_CASE("a URL shows neither user nor password") {
  CHECK(redacted("redis://bob:x@h:1/2 and https://t@ci/1, a@b") ==
        "redis://***@h:1/2 and https://***@ci/1, a@b");
  CHECK(redacted("'redis://:a/b@c@h' redis://h") == "'redis://***@h' redis://h");
  CHECK(sanitized("https://u:pa\nss@h") == "https://***@h");  // a line break ends a URL, its escape does not
  CHECK(redacted_line("--url redis://bob@h; redis://bob:x@h") == "--url redis://bob@h; redis://***@h");
}

TEST_CASE(
    "a password is kept out of texts in its decoded and its encoded form, and each time that its file is read") {
  parse_target("redis://u:p%40ss-w0rd@h");
  CHECK(redacted("p%40ss-w0rd p@ss-w0rd") == "*** ***");

  const TempDir folder;
  const auto source = PasswordSource::file(folder / "password");
  for (const std::string password : {"the-first-0ne", "the-sec0nd"}) {
    write_file(folder / "password", password + "\n");
    CHECK(source.read() == password);
  }
  CHECK(redacted("the-first-0ne the-sec0nd") == "*** ***");
}

TEST_CASE("the facts of a holder that rlock writes contain no password") {
  keep_secret("wr1tten-down");
  const Metadata facts{.host = "wr1tten-down",
                       .user = "wr1tten-down",
                       .command = "wr1tten-down",
                       .reason = "wr1tten-down",
                       .labels = {{"wr1tten-down", "https://u:p@h"}},
                       .url = "https://u:p@h"};
  const Call call = write_metadata(LockName{"k"}, Owner{"o"}, {"k", "o"}, Milliseconds{1000}, facts);
  CHECK_FALSE(contains(joined(call.args, " "), "wr1tten"));
  CHECK_FALSE(contains(joined(call.args, " "), "u:p"));
}
