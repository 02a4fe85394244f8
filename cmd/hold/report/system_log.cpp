// Sends events as datagrams to the system log. A syslog daemon gets the format of RFC 3164 without a host,
// like from syslog(3): "<14>Nov 23 14:05:01 rlock[4121]: event=acquired key="deploy" owner=...". A journal
// gets the same text as MESSAGE, and each field again as RLOCK_EVENT, RLOCK_KEY, RLOCK_OWNER, …: journalctl
// RLOCK_KEY=deploy.

#include "cmd/hold/report/system_log.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/log.h"
#include "base/text.h"

namespace rlock {
namespace {

constexpr std::string_view kJournal = "/run/systemd/journal/socket";
constexpr std::string_view kJournalName = "/journal/socket";

constexpr int kFacility = 1;  // user, like logger(1)

/// The severity of RFC 5424.
int severity(Event::Weight weight) {
  switch (weight) {
    case Event::Weight::error: return 3;
    case Event::Weight::warning: return 4;
    case Event::Weight::notice: return 5;
    case Event::Weight::info: break;
  }
  return 6;
}

/// The event, its keys, and those of its other fields that are not null.
Json::Fields fields_of(const Event& event, std::int64_t dropped) {
  Json::Fields fields;
  fields.emplace_back("event", Json::word(event.name));
  for (const LockName& key : event.keys) fields.emplace_back("key", Json{key.str()});
  for (const auto& field : event.fields)
    if (field.second.str() != "null") fields.push_back(field);
  if (dropped > 0) fields.emplace_back("dropped", dropped);
  return fields;
}

/// The text between the quotes of a JSON string; a number unchanged.
std::string_view unquoted(std::string_view json) {
  return json.starts_with('"') ? json.substr(1, json.size() - 2) : json;
}

/// event=acquired key="deploy": pure ASCII on one line, even if a key has other bytes.
std::string text_of(const Json::Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name,
                        name == "event" ? unquoted(value.str()) : std::string_view{value.str()});
  return text;
}

/// "Nov 23 14:05:01", by the clock of this host. rlock has the locale C.
std::string timestamp(Milliseconds at) {
  const std::time_t seconds = at.count() / 1000;
  std::tm parts{};
  std::array<char, 32> text{};
  if (::localtime_r(&seconds, &parts) == nullptr) return "Jan  1 00:00:00";
  return {text.data(), std::strftime(text.data(), text.size(), "%b %e %H:%M:%S", &parts)};
}

/// A field of a journal: "NAME=value". If the value has several lines, its length stands before it instead of "=".
std::string journal_field(std::string_view name, std::string_view value) {
  if (value.find('\n') == value.npos) return fmt::format("{}={}\n", name, value);
  std::string field = fmt::format("{}\n", name);
  for (std::size_t size = value.size(), byte = 0; byte < 8; ++byte, size >>= 8U)
    field += static_cast<char>(size & 0xFFU);  // little-endian
  return field.append(value) + "\n";
}

std::string journal_name(std::string_view field) {
  std::string name = "RLOCK_" + std::string{field};
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return name;
}

}  // namespace

void SystemLog::open(const std::string& socket) {
  if (socket == kSystemLog) paths_.emplace_back(kJournal);
  paths_.push_back(socket);
  const int failed = connect();
  if (failed != 0)
    warn(fmt::format("--syslog: cannot write to {}: {}; rlock goes on without it", in_quotes(socket),
                     std::strerror(failed)));
}

/// Connects to the first socket that works. Returns 0 or the errno of the failure.
int SystemLog::connect() noexcept {
  int failed = ENOENT;
  for (const std::string& path : paths_) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
      failed = ENAMETOOLONG;
      continue;
    }
    path.copy(address.sun_path, path.size());
    socket_.reset(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto* name = reinterpret_cast<const sockaddr*>(&address);  // as connect(2) wants it
    if (socket_ && ::connect(socket_.number(), name, sizeof address) == 0) {
      journal_ = path.ends_with(kJournalName);
      return 0;
    }
    failed = errno;
    socket_.reset();
  }
  return failed;
}

void SystemLog::write(const Event& event) noexcept {
  if (paths_.empty()) return;
  if (!socket_ && connect() != 0) {
    ++dropped_;
    return;
  }
  int failed = send(datagram(event));
  const bool gone = failed != 0 && failed != EAGAIN && failed != ENOBUFS && failed != EMSGSIZE;
  if (gone && connect() == 0) failed = send(datagram(event));  // the daemon was restarted
  dropped_ = failed == 0 ? 0 : dropped_ + 1;
}

int SystemLog::send(const std::string& datagram) noexcept {
  const ssize_t done =
      ::send(socket_.number(), datagram.data(), datagram.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  return done < 0 ? errno : 0;
}

std::string SystemLog::datagram(const Event& event) const {
  const auto fields = fields_of(event, dropped_);
  if (!journal_)
    return fmt::format("<{}>{} rlock[{}]: {}", kFacility * 8 + severity(event.weight), timestamp(event.at),
                       event.pid, text_of(fields));
  std::string datagram =
      journal_field("MESSAGE", text_of(fields)) +
      fmt::format("PRIORITY={}\nSYSLOG_FACILITY={}\nSYSLOG_IDENTIFIER=rlock\nSYSLOG_PID={}\n",
                  severity(event.weight), kFacility, event.pid);
  for (const LockName& key : event.keys) datagram += journal_field("RLOCK_KEY", key.str());
  for (const auto& [name, value] : fields)
    if (name != "key") datagram += journal_field(journal_name(name), unquoted(value.str()));
  return datagram;
}

}  // namespace rlock
