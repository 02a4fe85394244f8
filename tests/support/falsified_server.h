#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "support/cli.h"
#include "support/profile.h"
#include "support/relay.h"

namespace rlock::test {

inline std::string deeply(std::size_t levels) {
  std::string bytes;
  for (std::size_t level = 0; level < levels; ++level) bytes += "*1\r\n";
  return bytes + ":1\r\n";
}

/// An array that begins like a script's answer, and goes on with `values`.
inline std::string answer(const std::string& word, std::string_view values) {
  return "*3\r\n" + wire::text(word) + std::string{values};
}

/// Answers that no script gives, by name.
inline const std::map<std::string, std::string>& shapes() {
  static const std::map<std::string, std::string> all{
      {"nil", "$-1\r\n"},
      {"no array", "*-1\r\n"},
      {"RESP3's nil", "_\r\n"},
      {"a number", ":7\r\n"},
      {"the largest number", ":9223372036854775807\r\n"},
      {"OK", "+OK\r\n"},
      {"text", "$4\r\nwhat\r\n"},
      {"an empty text", "$0\r\n\r\n"},
      {"an empty array", "*0\r\n"},
      {"an array of nothing", "*1\r\n$-1\r\n"},
      {"an array in an array", "*1\r\n*1\r\n:1\r\n"},
      {"many arrays in each other", deeply(50)},
      {"an unknown number", "*1\r\n:77\r\n"},
      {"an unknown word", "*1\r\n$4\r\nwhat\r\n"},
      {"a word alone", "*1\r\n$4\r\nheld\r\n"},
      {"the largest numbers", answer("busy", ":9223372036854775807\r\n:9223372036854775807\r\n")},
      {"arrays for values", answer("held", "*0\r\n*0\r\n")},
      {"arrays for values of a release", answer("released", "*0\r\n*0\r\n")},
      {"arrays for values of a refusal", answer("foreign", "*0\r\n*0\r\n")},
      {"an error", "-ERR what\r\n"},
      {"an empty error", "-\r\n"},
      {"a double", ",1.5\r\n"},
      {"true", "#t\r\n"},
      {"a map", "%1\r\n$1\r\na\r\n:1\r\n"},
      {"a set", "~1\r\n:1\r\n"},
      {"a big number", "(123456789012345678901234567890\r\n"},
      {"text with its kind", "=8\r\ntxt:what\r\n"},
      {"a push", ">1\r\n:1\r\n"},
      {"a message", ">3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n"},
      {"no Redis at all", "HTTP/1.1 400 Bad Request\r\n\r\n"},
      {"the end of the connection", wire::kClose},
  };
  return all;
}

/// The few shapes for tests in which each try takes a second.
inline const std::vector<std::string> kFewShapes =
    kSanitized && !long_profile()
        ? std::vector<std::string>{"a number", "an array in an array"}
        : std::vector<std::string>{"nil", "a number", "text", "an array in an array", "no Redis at all"};

/// With a lock every shape is tried. The other kinds read answers with the same code, so only the most
/// different shapes are tried; under sanitizers fewer. RLOCK_LONG=1 tries all.
inline bool is_shape_tried(const std::string& kind, const std::string& shape) {
  static const std::set<std::string> telling{"nil",
                                             "a number",
                                             "text",
                                             "an unknown word",
                                             "a word alone",
                                             "the largest numbers",
                                             "arrays for values",
                                             "arrays for values of a release",
                                             "arrays for values of a refusal",
                                             "arrays for values of readers",
                                             "an error",
                                             "the end of the connection"};
  if (kSanitized && !long_profile()) return std::ranges::count(kFewShapes, shape) != 0;
  return long_profile() || kind == "lock" || telling.contains(shape);
}

struct Variety {
  std::string name;
  Words options;
};

inline const std::vector<Variety> kVarieties{
    {"lock", {}},
    {"read", {"-s"}},
    {"write", {"-x"}},
    {"fair", {"--fair"}},
    {"fenced", {"--fenced"}},
    {"plain", {"--type", "plain"}},
    {"permit", {"--permits", "3"}},
    {"two keys", {"-k", "l"}},
};

inline const std::set<int> kDocumented{0, 1, 7, 64, 65, 69, 70, 71, 75, 77, 78, 124, 125, 126, 127};

/// A server, a relay that falsifies its answers, and a folder.
struct FalsifiedServer {
  RedisServer server{};
  Relay relay{server};
  TempDir folder{};

  Rlock rlock(const Words& words) const {
    auto options = server.environment();
    options.env["RLOCK_URL"] = relay.url();
    options.env["RLOCK_BINARY"] = rlock_binary();
    return Rlock{words, options};
  }

  /// The words of an rlock run of this kind, with a command of its own.
  Words run(const Variety& kind, const Words& more, const std::string& command) const {
    Words words{"run", "-q", "-k", "k", "--command-timeout", "300ms", "--status-file", folder / "status"};
    words.insert(words.end(), kind.options.begin(), kind.options.end());
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sh", "-c", "echo > " + (folder / "ran") + "; " + command});
    return words;
  }

  void clean() {
    relay.tell_the_truth();
    server.cli({"FLUSHALL"});
    write_file(folder / "ran", "");
    write_file(folder / "status", "");
  }

  bool ran() const { return !read_file(folder / "ran").empty(); }
  nlohmann::json record() const {
    return nlohmann::json::parse(read_file(folder / "status"), nullptr, false);
  }

  /// Checks that the command's own exit status survives whatever was answered, and that the record tells how
  /// the run ended.
  void expect_truthful_end(int status) {
    CHECK(kDocumented.contains(status));
    const auto report = record();
    REQUIRE(report.is_object());
    CHECK(report["exit"] == status);
    if (!ran()) return;
    CHECK((status == 7 || (status == 125 && report["outcome"] == "lost")));
    CHECK((report["command_exit"] == 7 || report["outcome"] == "lost"));
  }
};

/// The scripts called during a hold whose answers are all true.
inline std::set<std::string> asked_by(FalsifiedServer& stage, const Words& words) {
  stage.clean();
  stage.relay.forget_asked();
  CHECK(stage.rlock(words).exit_code(kPatience) == 7);
  return stage.relay.forget_asked();
}

}  // namespace rlock::test
