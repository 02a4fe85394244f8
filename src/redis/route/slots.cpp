#include "redis/route/slots.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"

namespace rlock {
namespace {

/// CRC16-CCITT (XMODEM), a byte at a time.
constexpr std::array<std::uint16_t, 256> kCrc = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::size_t byte = 0; byte < table.size(); ++byte) {
    auto crc = static_cast<std::uint16_t>(byte << 8);
    for (int bit = 0; bit < 8; ++bit)
      crc = static_cast<std::uint16_t>((crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1);
    table[byte] = crc;
  }
  return table;
}();

/// More than any Cluster has: Redis recommends at most 1000 nodes.
constexpr std::size_t kMostNodes = 2000;

std::string_view hashed_part(std::string_view key) {
  const auto open = key.find('{');
  if (open == key.npos) return key;
  const auto close = key.find('}', open + 1);
  return close == key.npos || close == open + 1 ? key : key.substr(open + 1, close - open - 1);
}

/// The address that a node announces. If it does not know its host, it has the host that we asked.
std::optional<Address> announced(std::string_view host, std::optional<std::int64_t> port,
                                 const Address& asked) {
  std::optional<Address> address = announced_address(host, port);
  if (address && (host.empty() || host == "?")) address->host = asked.host;
  return address;
}

std::optional<std::int64_t> integer_up_to(const Reply& reply, std::int64_t most) {
  if (reply.kind() != Reply::Kind::integer || reply.integer() < 0 || reply.integer() > most)
    return std::nullopt;
  return reply.integer();
}

/// What CLUSTER SLOTS says of a node. Both are empty if it has another shape.
struct NodeEntry {
  std::optional<Address> address{};
  bool lost = false;  ///< it has no port
};

NodeEntry read_node(const Reply& node, const Address& asked) {
  if (node.kind() != Reply::Kind::array || node.items().size() < 2) return {};
  const Reply& host = node.at(0);
  if (!host.is_nil() && host.kind() != Reply::Kind::text) return {};
  const auto port = integer_up_to(node.at(1), 65535);
  if (port == 0) return {.lost = true};
  return {.address = announced(host.is_nil() ? "" : host.text(), port, asked)};
}

}  // namespace

std::uint16_t slot_of(std::string_view key) {
  std::uint16_t crc = 0;
  for (const char c : hashed_part(key)) {
    const auto index = static_cast<std::uint8_t>((crc >> 8) ^ static_cast<unsigned char>(c));
    crc = static_cast<std::uint16_t>((crc << 8) ^ kCrc[index]);
  }
  return crc % SlotMap::kSlots;
}

const Address* SlotMap::node_of(std::uint16_t slot) const {
  const std::uint16_t node = serving_[slot % kSlots];
  return node == 0 || node == kLost ? nullptr : &nodes_[node - 1U];
}

std::string SlotMap::why_no_node(std::uint16_t slot) const {
  if (serving_[slot % kSlots] == kLost)
    return fmt::format(
        "the cluster has no port for the node that serves slot {}: it has lost the node, or the node is reached by TLS "
        "only, or without TLS only",
        slot);
  return fmt::format("no node of the cluster serves slot {}", slot);
}

std::uint16_t SlotMap::number_of(const Address& node) {
  const auto found = std::ranges::find(nodes_, node);
  const auto index = static_cast<std::uint16_t>(found - nodes_.begin());
  if (found == nodes_.end()) nodes_.push_back(node);
  return static_cast<std::uint16_t>(index + 1);
}

bool SlotMap::has(const Address& node) const { return std::ranges::find(nodes_, node) != nodes_.end(); }

void SlotMap::move(std::uint16_t slot, const Address& to) {
  if (nodes_.size() < kMostNodes) serving_[slot % kSlots] = number_of(to);
}

std::optional<SlotMap> SlotMap::read(const Reply& reply, const Address& asked) {
  if (reply.kind() != Reply::Kind::array) return std::nullopt;
  SlotMap map;
  for (const Reply& range : reply.items()) {
    if (range.kind() != Reply::Kind::array || range.items().size() < 3) return std::nullopt;
    const auto first = integer_up_to(range.at(0), kSlots - 1);
    const auto last = integer_up_to(range.at(1), kSlots - 1);
    const NodeEntry node = read_node(range.at(2), asked);
    if (!first || !last || (!node.address && !node.lost) || map.nodes_.size() >= kMostNodes)
      return std::nullopt;
    const std::uint16_t number = node.lost ? kLost : map.number_of(*node.address);
    for (auto slot = *first; slot <= *last; ++slot) map.serving_[static_cast<std::size_t>(slot)] = number;
  }
  return map;
}

Call ask_slots() { return with_large_reply(command({"CLUSTER", "SLOTS"})); }

Failure knows_no_slots(const std::string& server) {
  return {Error::unreachable, server + " does not know which node serves which slot"};
}

std::vector<std::string> SlotMap::key_of_each_node() const {
  std::set<std::uint16_t> missing{serving_.begin(), serving_.end()};
  missing.erase(0);
  std::vector<std::string> keys;
  for (std::int64_t number = 0; !missing.empty(); ++number) {
    std::string key = std::to_string(number);
    if (missing.erase(serving_[slot_of(key)]) > 0) keys.push_back(std::move(key));
  }
  return keys;
}

std::optional<Redirection> read_redirection(const Reply& error, const Address& asked) {
  if (!error.is_error("MOVED") && !error.is_error("ASK")) return std::nullopt;
  const std::vector<std::string> words = split(error.text(), ' ');
  if (words.size() < 3) return std::nullopt;
  const auto slot = parse_count(words[1]);
  const auto colon = words[2].rfind(':');
  if (!slot || *slot >= static_cast<std::int64_t>(SlotMap::kSlots) || colon == std::string::npos)
    return std::nullopt;
  std::string host = words[2].substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto to = announced(host, parse_count(words[2].substr(colon + 1)), asked);
  if (!to) return std::nullopt;
  return Redirection{static_cast<std::uint16_t>(*slot), *to};
}

}  // namespace rlock
