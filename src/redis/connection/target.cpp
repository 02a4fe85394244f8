// parse_target() finds the scheme, and UrlReader reads the rest from left to right: user, then hosts or a socket, then
// the path. An error repeats nothing of the URL but its scheme, because a password may stand where a host should.
// spelled() writes a target again: str() for messages, url() for a nested rlock.

#include "redis/connection/target.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/ascii.h"
#include "base/error.h"
#include "base/percent.h"
#include "base/redaction.h"
#include "base/text.h"

namespace rlock {
namespace {

using Topology = Target::Topology;

struct Scheme {
  std::string_view name;     ///< as typed
  std::string_view spelled;  ///< as printed
  Topology topology;
  bool tls = false;
  bool unix_socket = false;
};

constexpr std::array<Scheme, 10> kSchemes{{
    {.name = "redis", .spelled = "redis", .topology = Topology::single},
    {.name = "rediss", .spelled = "rediss", .topology = Topology::single, .tls = true},
    {.name = "valkey", .spelled = "valkey", .topology = Topology::single},
    {.name = "valkeys", .spelled = "valkeys", .topology = Topology::single, .tls = true},
    {.name = "unix", .spelled = "unix", .topology = Topology::single, .unix_socket = true},
    {.name = "redis+unix", .spelled = "unix", .topology = Topology::single, .unix_socket = true},
    {.name = "redis+sentinel", .spelled = "redis+sentinel", .topology = Topology::sentinel},
    {.name = "rediss+sentinel", .spelled = "rediss+sentinel", .topology = Topology::sentinel, .tls = true},
    {.name = "redis+cluster", .spelled = "redis+cluster", .topology = Topology::cluster},
    {.name = "rediss+cluster", .spelled = "rediss+cluster", .topology = Topology::cluster, .tls = true},
}};

constexpr std::size_t kLongestSocketPath = sizeof(sockaddr_un::sun_path) - 1;
constexpr std::size_t kLongestHost = 255;

/// Removes the text before `mark` from the front of `rest`, and the mark too. Empty: there is no mark.
std::optional<std::string_view> take_until(std::string_view& rest, std::string_view mark) {
  const auto at = rest.find(mark);
  if (at == rest.npos) return std::nullopt;
  const auto taken = rest.substr(0, at);
  rest.remove_prefix(at + mark.size());
  return taken;
}

bool consists_of_host_characters(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || c == '.' || c == '-' || c == '_';
  });
}

/// Reads one URL from left to right. Its errors name only the scheme. A text that looks like a host or a path may be
/// part of a password with an unencoded slash.
class UrlReader {
 public:
  UrlReader(const Scheme& scheme, std::string_view rest) : scheme_(scheme), rest_(rest) {}

  Target read() {
    target_.topology = scheme_.topology;
    target_.scheme = scheme_.spelled;
    target_.tls.on = scheme_.tls;
    refuse_what_must_be_encoded();

    std::string_view query = rest_;
    const auto before_query = take_until(query, "?");
    if (before_query) rest_ = *before_query;
    if (before_query && !scheme_.unix_socket)
      refuse("takes no query parameters (a database: redis://host:6379/2)");

    const auto slash = std::min(rest_.find('/'), rest_.size());
    std::string_view authority = rest_.substr(0, slash);
    const std::string_view path = rest_.substr(slash);
    if (const auto at = authority.rfind('@'); at != authority.npos) {
      read_user(authority.substr(0, at));
      authority.remove_prefix(at + 1);
    }
    if (scheme_.unix_socket) {
      read_socket(authority, path);
      if (before_query) read_query(query);
    } else {
      read_hosts(authority);
      read_path(path);
    }
    return std::move(target_);
  }

 private:
  [[noreturn]] void refuse(std::string_view why) const {
    throw Error{Error::usage, fmt::format("the {}:// URL {}", scheme_.name, why)};
  }

  void refuse_what_must_be_encoded() const {
    constexpr std::string_view kHint =
        "; in a password write %2F for /, %3F for ?, %23 for #, %25 for %, %20 for a blank";
    const auto is_outlaw = [](unsigned char c) { return c <= ' ' || c == 0x7f || c == '#'; };
    if (std::any_of(rest_.begin(), rest_.end(), is_outlaw)) {
      refuse(fmt::format("has a blank, a control character or a #{}", kHint));
    }
    const auto end_of_authority = rest_.find_first_of("/?");
    if (!scheme_.unix_socket && end_of_authority != rest_.npos &&
        rest_.find('@', end_of_authority) != rest_.npos) {
      refuse(fmt::format("has an @ behind a / or ?{}", kHint));
    }
  }

  /// Decodes exactly once.
  std::string decoded(std::string_view text) const {
    auto bytes = percent_decoded(text);
    if (!bytes) refuse("has a % without two hexadecimal digits; write %25 for a %");
    if (bytes->find('\0') != bytes->npos) refuse("has a %00");
    return *std::move(bytes);
  }

  void read_user(std::string_view user_information) {
    const auto colon = user_information.find(':');
    target_.user = decoded(user_information.substr(0, colon));
    if (colon == user_information.npos) return;
    keep_secret(user_information.substr(colon + 1));
    target_.password = PasswordSource::fixed(decoded(user_information.substr(colon + 1)));
  }

  void read_hosts(std::string_view list) {
    if (target_.topology == Topology::single) {
      if (list.find(',') != list.npos)
        refuse(
            "names several hosts; use redis+sentinel:// or redis+cluster://, or one --url for each server");
      target_.addresses.push_back(read_address(list));
      return;
    }
    for (const std::string& host : split(list, ',')) target_.addresses.push_back(read_address(host));
  }

  Address read_address(std::string_view text) const {
    Address address;
    address.port = target_.topology == Topology::sentinel ? 26379 : 6379;
    std::string_view port;
    if (text.starts_with('[')) {
      text.remove_prefix(1);
      const auto inside = take_until(text, "]");
      if (!inside) refuse("has a [ without a ]");
      address.host = read_ipv6(*inside);
      port = text;
    } else {
      const auto colon = std::min(text.find(':'), text.size());
      address.host = text.substr(0, colon);
      port = text.substr(colon);
      if (address.host.empty()) refuse("names no host");
      if (port.find(':', 1) != port.npos)
        refuse("has too many colons; write an IPv6 address in brackets: redis://[::1]:6379");
      if (!consists_of_host_characters(address.host))
        refuse("has a host name with characters that no host name has");
    }
    if (address.host.size() > kLongestHost) refuse("has a host name that is too long");
    if (!port.empty()) address.port = read_port(port);
    return address;
  }

  std::uint16_t read_port(std::string_view text) const {
    const auto port = text.starts_with(':') ? parse_count(text.substr(1)) : std::nullopt;
    if (!port || *port < 1 || *port > std::numeric_limits<std::uint16_t>::max()) {
      refuse("has no valid port (:1 to :65535) behind a host");
    }
    return static_cast<std::uint16_t>(*port);
  }

  std::string read_ipv6(std::string_view text) const {
    const std::string whole = decoded(text);
    std::string_view zone = whole;
    const auto before_zone = take_until(zone, "%");
    in6_addr ignored{};
    if (::inet_pton(AF_INET6, std::string{before_zone.value_or(whole)}.c_str(), &ignored) != 1) {
      refuse("has no valid IPv6 address in its brackets");
    }
    if (before_zone && !consists_of_host_characters(zone)) refuse("has a bad zone; write [fe80::1%25eth0]");
    return whole;
  }

  void read_path(std::string_view path) {
    if (path.starts_with('/')) path.remove_prefix(1);
    switch (target_.topology) {
      case Topology::single:
        if (!path.empty()) read_db(path);
        return;
      case Topology::cluster:
        if (!path.empty()) refuse("has text behind the hosts; a cluster has no databases");
        return;
      case Topology::sentinel: {
        std::string_view db = path;
        target_.master = decoded(take_until(db, "/").value_or(path));
        if (target_.master.empty()) refuse("does not name the primary: redis+sentinel://host:26379/mymaster");
        if (db.size() < path.size()) read_db(db);
        return;
      }
      case Topology::local: return;
    }
  }

  void read_db(std::string_view text) {
    const auto db = parse_count(text);
    if (!db || *db > std::numeric_limits<int>::max()) refuse("has no valid database number at its end");
    target_.db = static_cast<int>(*db);
    target_.db_named = true;
  }

  void read_socket(std::string_view authority, std::string_view path) {
    if (!authority.empty()) refuse("needs an absolute path: unix:///run/redis/redis.sock");
    Address address;
    address.path = decoded(path);
    if (address.path.empty() || address.path.ends_with('/'))
      refuse("names no socket: unix:///run/redis/redis.sock");
    if (address.path.size() > kLongestSocketPath) {
      refuse(fmt::format("has a path of {} bytes; a Unix socket's path has at most {}", address.path.size(),
                         kLongestSocketPath));
    }
    target_.addresses.push_back(std::move(address));
  }

  void read_query(std::string_view query) {
    constexpr std::string_view kDb = "db=";
    if (!query.starts_with(kDb)) refuse("takes one query parameter only: unix:///run/redis/redis.sock?db=2");
    read_db(query.substr(kDb.size()));
  }

  const Scheme& scheme_;
  std::string_view rest_;
  Target target_;
};

/// Suggests a correct form. It does not repeat the text, because that may be a password.
[[noreturn]] void refuse_what_is_no_url(std::string_view text) {
  if (text.find("://") != text.npos)
    throw Error{Error::usage,
                "not a URL that rlock knows; it begins with redis://, rediss://, valkey://, unix://, "
                "redis+sentinel:// or redis+cluster://, or is local: (see URLS in rlock(1))"};
  const bool path = text.starts_with('/') || text.starts_with('.') || text.starts_with('~');
  const std::string_view meant = text == "local" ? "'local:'" : path ? "unix:///path" : "redis://host:port";
  throw Error{Error::usage, fmt::format("not a URL; did you mean {}?", meant)};
}

/// Which database numbers the URL shows. `not_zero`: for people, without 0. `all_named`: also 0 if the user
/// named it, because then a config file must not replace it.
enum class Databases { not_zero, all_named };

/// The URL, with `user` in place of user and password.
std::string spelled(const Target& target, const std::string& user, Databases databases) {
  if (target.topology == Topology::local) return "local:";  // even after it got an address
  const std::string at = user.empty() ? "" : user + "@";
  const Address& first = target.addresses.front();
  const bool says_db = target.db != 0 || (databases == Databases::all_named && target.db_named);
  if (first.is_unix()) {
    const std::string db = says_db ? fmt::format("?db={}", target.db) : "";
    return target.scheme + "://" + at + percent_encoded(first.path, is_path_character) + db;
  }

  const std::string master = target.master.empty() ? "" : "/" + percent_encoded(target.master, is_unreserved);
  const std::string db = says_db ? fmt::format("/{}", target.db) : "";

  std::string scheme = target.scheme;  // the user may also have given --tls
  if (target.tls.on && (scheme.starts_with("redis") || scheme.starts_with("valkey"))) {
    const auto plain = scheme.starts_with("redis") ? std::string_view{"redis"} : std::string_view{"valkey"};
    if (scheme.substr(plain.size(), 1) != "s") scheme.insert(plain.size(), 1, 's');
  }
  return scheme + "://" + at + joined(target.addresses, ",", &Address::in_url) + master + db;
}

}  // namespace

std::optional<Address> announced_address(std::string_view host, std::optional<std::int64_t> port) {
  const auto odd = [](unsigned char c) { return c <= ' ' || c >= 0x7f || c == '/'; };
  if (host.size() > 255 || std::ranges::any_of(host, odd)) return std::nullopt;
  if (!port || *port < 1 || *port > 65535) return std::nullopt;
  return Address{.host = std::string{host}, .port = static_cast<std::uint16_t>(*port)};
}

std::string Address::str() const {
  if (is_unix()) return path;
  const bool ipv6 = host.find(':') != host.npos;
  return ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

std::string Address::in_url() const {
  std::string text = str();
  if (const auto zone = text.find('%'); zone != text.npos) text.insert(zone + 1, "25");
  return text;
}

std::string Target::str() const {
  return spelled(*this, user.empty() && password.empty() ? "" : "***", Databases::not_zero);
}

std::string Target::url() const {
  return spelled(*this, percent_encoded(user, is_unreserved), Databases::all_named);
}

Target parse_target(std::string_view url) {
  std::string_view rest = url;
  if (url == "local:") {
    Target target;
    target.topology = Topology::local;
    target.scheme = "local";
    return target;
  }
  if (url.starts_with("local:")) throw Error{Error::usage, "'local:' takes nothing behind it"};
  const auto begins = [&](const Scheme& scheme, std::string_view mark) {
    const bool found = rest.starts_with(scheme.name) && rest.substr(scheme.name.size()).starts_with(mark);
    if (found) rest.remove_prefix(scheme.name.size() + mark.size());
    return found;
  };
  // A path needs no host before it: "unix:/run/redis.sock". RFC 8089 allows the same for file URLs.
  const auto scheme = std::ranges::find_if(kSchemes, [&](const Scheme& each) {
    return begins(each, "://") || (each.unix_socket && begins(each, ":"));
  });
  if (scheme == kSchemes.end()) refuse_what_is_no_url(url);
  return UrlReader{*scheme, rest}.read();
}

}  // namespace rlock
