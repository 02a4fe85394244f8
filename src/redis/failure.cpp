#include "redis/failure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace rlock {
namespace {

struct Meaning {
  std::string_view code;
  Error::Kind kind;
  bool passes = false;    ///< the server may answer soon
  std::string_view says;  ///< the reason for people, and the remedy
};

constexpr std::string_view kForbidden =
    "the server's ACL forbids this user a command, a key or a channel that locks need; see ACCESS RIGHTS in rlock-redisson(7)";
/// The beginning of an error that waiting does not mend.
constexpr std::string_view kUnknownCommand = "ERR unknown command";
constexpr std::string_view kReplica =
    "the server is a read-only replica; name its primary, or let redis+sentinel:// find it";

constexpr std::array kMeanings{
    Meaning{
        .code = "NOAUTH",
        .kind = Error::denied,
        .says = "the server asks for a password; give one by --password-file, RLOCK_PASSWORD or --askpass"},
    Meaning{.code = "WRONGPASS",
            .kind = Error::denied,
            .says = "the server does not accept this user or its password; see --user and --password-file"},
    Meaning{.code = "NOPERM", .kind = Error::denied, .says = kForbidden},
    Meaning{.code = "DENIED",
            .kind = Error::denied,
            .says = "the server is in protected mode and serves its own host only"},
    Meaning{.code = "TOOMANY",
            .kind = Error::wrong_type,
            .says = "more entries stand under the key, or beside it, than rlock reads in one go (thousands)"},
    Meaning{.code = "WRONGTYPE", .kind = Error::wrong_type, .says = "something else stands under the key"},
    Meaning{.code = "CROSSSLOT",
            .kind = Error::config,
            .says = "the keys lie in different slots of a cluster, which takes redis+cluster://"},
    Meaning{.code = "MOVED",
            .kind = Error::unreachable,
            .says = "the nodes of the cluster disagree about which of them has the key"},
    Meaning{.code = "ASK",
            .kind = Error::unreachable,
            .says = "the key is moving to another node of the cluster, which did not answer"},
    Meaning{.code = "NOSCRIPT",
            .kind = Error::unreachable,
            .says = "the server does not keep the scripts that it is sent"},
    Meaning{.code = "READONLY", .kind = Error::unreachable, .passes = true, .says = kReplica},
    Meaning{.code = "LOADING",
            .kind = Error::unreachable,
            .passes = true,
            .says = "the server is still loading its data"},
    Meaning{.code = "BUSY",
            .kind = Error::unreachable,
            .passes = true,
            .says = "a script keeps the server busy; redis-cli SCRIPT KILL ends it"},
    Meaning{.code = "MASTERDOWN",
            .kind = Error::unreachable,
            .passes = true,
            .says = "the server is a replica that has lost its primary"},
    Meaning{
        .code = "MISCONF",
        .kind = Error::unreachable,
        .passes = true,
        .says = "the server cannot save its data and refuses to write; its log says why, often a full disk"},
    Meaning{.code = "OOM",
            .kind = Error::unreachable,
            .passes = true,
            .says = "the server has no memory left; raise its maxmemory or remove data there"},
    Meaning{.code = "NOREPLICAS",
            .kind = Error::unreachable,
            .passes = true,
            .says = "too few replicas follow the server for its min-replicas-to-write"},
    Meaning{.code = "TRYAGAIN",
            .kind = Error::unreachable,
            .passes = true,
            .says = "the key is moving to another node of the cluster"},
    Meaning{.code = "CLUSTERDOWN",
            .kind = Error::unreachable,
            .passes = true,
            .says = "the cluster has no primary for the key"},
};

const Meaning* meaning_of(const Reply& error) {
  const auto found =
      std::ranges::find_if(kMeanings, [&](const Meaning& meaning) { return error.is_error(meaning.code); });
  return found == kMeanings.end() ? nullptr : &*found;
}

/// The server's own text, without the position in the script, which the user cannot look up.
std::string words_of(const Reply& error) {
  const std::string text = error.text();
  std::string words = sanitized(text.substr(0, text.rfind(" script: ")));
  while (words.ends_with('.')) words.pop_back();
  return words.empty() ? "an error without a word" : words;
}

/// Redis 6 and 7.0 refuse a command inside a script without the code NOPERM.
bool forbids(std::string_view words) {
  return words.find("The user executing the script") != words.npos ||
         words.find("ACL failure in script") != words.npos;
}

}  // namespace

Failure failure_of(const Reply& error) {
  const std::string words = words_of(error);
  if (forbids(words))
    return {.kind = Error::denied, .text = fmt::format("{} ({})", kForbidden, words), .answered = true};
  if (words.starts_with(kUnknownCommand))
    return {
        .kind = Error::config,
        .text = fmt::format(
            "the server does not know a command that locks need: is it a Sentinel (redis+sentinel://), or a "
            "proxy, or are scripts disabled? ({})",
            words.substr(0, words.find(", with args"))),
        .answered = true};
  const Meaning* meaning = meaning_of(error);
  if (meaning == nullptr) return {Error::unreachable, words};
  return {.kind = meaning->kind, .text = fmt::format("{} ({})", meaning->says, words), .answered = true};
}

Failure of_server(const std::string& server, Failure why) {
  if (!server.empty()) why.text = fmt::format("{}: {}", server, why.text);
  return why;
}

bool is_passing(const Reply& error) {
  const Meaning* meaning = meaning_of(error);
  return meaning != nullptr && meaning->passes;
}

}  // namespace rlock
