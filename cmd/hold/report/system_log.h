#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "cmd/hold/report/event_file.h"
#include "cmd/hold/request/hold_request.h"

namespace rlock {

/// --syslog: sends one datagram for each event, to the systemd journal (with each field as a field of its own) or to a
/// syslog daemon. Like EventFile, it does not wait for the reader. It reconnects to a daemon that was restarted.
class SystemLog {
 public:
  /// `socket`: the socket of a syslog daemon, or of a journal if its path ends in /journal/socket. kSystemLog means the
  /// log of this system. If no log listens there, the user is warned once, and each event tries again to connect.
  void open(const std::string& socket);

  /// Does nothing without open().
  void write(const Event& event) noexcept;

  int descriptor() const noexcept { return socket_.number(); }  ///< -1: it is not connected

 private:
  int connect() noexcept;
  int send(const std::string& datagram) noexcept;
  std::string datagram(const Event& event) const;

  std::vector<std::string> paths_;  ///< the candidates; the first that can be used counts
  Descriptor socket_;
  bool journal_ = false;  ///< the socket is a journal's
  std::int64_t dropped_ = 0;
};

}  // namespace rlock
