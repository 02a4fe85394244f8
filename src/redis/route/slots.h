#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/call.h"
#include "redis/connection/target.h"
#include "redis/failure.h"
#include "redis/reply.h"

namespace rlock {

/// The slot of a key: the CRC16 of the text in its first braces. If there are no braces, or they are empty,
/// the whole key counts.
std::uint16_t slot_of(std::string_view key);

/// Which node serves which slot, as far as we know.
class SlotMap {
 public:
  static constexpr std::size_t kSlots = 16384;

  bool empty() const noexcept { return nodes_.empty(); }

  /// The primary that serves the slot. Null: no node does, or its entry has no port.
  const Address* node_of(std::uint16_t slot) const;

  /// Why node_of() is null.
  std::string why_no_node(std::uint16_t slot) const;

  /// Does the map name this node? It may have lost its slots by redirections since.
  bool has(const Address& node) const;

  /// Applies a redirection.
  void move(std::uint16_t slot, const Address& to);

  /// Reads the reply to CLUSTER SLOTS. If a node has no host, `asked` stands for it, because such a node does not
  /// know its own name. A node has no port if the others have lost it, or if it is not reached in this way, by TLS or
  /// without. Empty: the reply has another shape.
  [[nodiscard]] static std::optional<SlotMap> read(const Reply& reply, const Address& asked);

  /// One key for each node that serves slots. A call with that key reaches that node, or fails if the node has no port.
  std::vector<std::string> key_of_each_node() const;

 private:
  static constexpr std::uint16_t kLost = 0xffff;  ///< a node without a port

  std::uint16_t number_of(const Address& node);

  std::vector<Address> nodes_;                   ///< number 1 is the first
  std::array<std::uint16_t, kSlots> serving_{};  ///< 0: no node
};

/// The call that asks for the slots, for SlotMap::read().
[[nodiscard]] Call ask_slots();

/// The reply to it is no map, or an empty one.
Failure knows_no_slots(const std::string& server);

/// A redirection of a Cluster: "MOVED 3999 10.0.0.1:6381", "ASK 3999 [::1]:6381".
struct Redirection {
  std::uint16_t slot;
  Address to;
};

/// Empty: the error is no redirection, or has no valid address.
[[nodiscard]] std::optional<Redirection> read_redirection(const Reply& error, const Address& asked);

}  // namespace rlock
