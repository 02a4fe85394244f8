#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/call.h"
#include "redis/reply.h"
#include "redis/target.h"

namespace rlock {

/// The slot of a key: CRC16 of what is in its first braces, of the whole key where they are missing or empty.
std::uint16_t slot_of(std::string_view key);

/// Which node serves which slot, as far as we know.
class SlotMap {
 public:
  static constexpr std::size_t kSlots = 16384;

  bool empty() const noexcept { return nodes_.empty(); }

  /// The primary that serves the slot; null where no node does.
  const Address* owner(std::uint16_t slot) const;

  /// Is it one of the nodes that serve slots?
  bool has(const Address& node) const;

  /// What a redirection says.
  void move(std::uint16_t slot, const Address& to);

  /// Reads the answer to CLUSTER SLOTS. A node without a host
  /// is where `asked` is: it does not know its own name.
  /// nullopt if the reply is no such answer.
  [[nodiscard]] static std::optional<SlotMap> read(const Reply& reply, const Address& asked);

 private:
  std::uint16_t number_of(const Address& node);

  std::vector<Address> nodes_;                  ///< number 1 is the first
  std::array<std::uint16_t, kSlots> owners_{};  ///< 0: no node
};

/// The call that asks for the slots, for SlotMap::read().
[[nodiscard]] Call ask_slots();

/// For each node that serves slots a key of one of them,
/// to send that node what only a node can answer.
std::vector<std::string> key_of_each_node(const SlotMap& slots);

/// Where a cluster sends us: "MOVED 3999 10.0.0.1:6381", "ASK 3999 [::1]:6381".
struct Redirection {
  std::uint16_t slot;
  Address to;
};

/// nullopt if the error is no redirection, or one that leads nowhere.
[[nodiscard]] std::optional<Redirection> read_redirection(const Reply& error, const Address& asked);

}  // namespace rlock
