#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis/reply.h"
#include "store_values.h"

namespace rlock::model {

using Words = std::vector<std::string>;

constexpr std::int64_t kBegin = 1'700'000'000'000;  ///< ms since the epoch, at the beginning of the model

/// A message on its way to a listening client.
struct Delivery {
  int client;
  std::string channel;
  std::string text;
};

/// A Redis whose time is a number, with only the commands that our scripts use. A value: a copy is another
/// world. tests/model/store_test compares it with a real server.
class Store {
 public:
  explicit Store(std::int64_t now) : now_(now) {}

  /// Milliseconds since the epoch.
  std::int64_t now() const noexcept { return now_; }
  /// `micros`: further microseconds.
  void advance_to(std::int64_t now, std::int64_t micros = 0);

  /// The result of redis.call(); an error reply if it raises an error.
  Reply call(const Words& words);

  /// Receives published messages in place of the clients of listen(), and returns the number of receivers.
  using Audience = std::function<std::size_t(const std::string& channel, const std::string& text)>;
  void publish_to(Audience audience) { audience_ = std::move(audience); }

  /// The number of commands that it has carried out.
  std::int64_t commands() const noexcept { return commands_; }
  /// The bytes of all names and contents.
  std::size_t bytes() const;

  void listen(int client, const std::string& channel);
  void stop_listening(int client);
  bool listens(int client, const std::string& channel) const;

  /// The messages since the last call, one for each client that was listening.
  std::vector<Delivery> take_deliveries() { return std::exchange(deliveries_, {}); }

  /// The whole contents as text. A time is written as its distance from now, so that two worlds that differ
  /// only by their clocks are equal.
  void describe(std::string& into) const;

  std::vector<std::string> keys() const;
  bool has_ttl(const std::string& key) const;
  /// The earliest expiry of a key; 0: no key expires.
  std::int64_t next_expiry() const;

 private:
  enum class Type { string, hash, list, zset };
  struct Value {
    Type type = Type::string;
    std::int64_t expires = 0;  // 0: never
    std::string text{};
    Fields fields{};
    Words items{};
    Members members{};
  };
  struct Arguments;

  Value* find(const std::string& key);
  Value& make(const std::string& key, Type type);
  void drop_if_empty(const std::string& key);
  void drop_expired();

  Reply keys_command(const std::string& name, const Arguments& words);
  Reply string_command(const std::string& name, const Arguments& words);
  Reply hash_command(const std::string& name, const Arguments& words);
  Reply list_command(const std::string& name, const Arguments& words);
  Reply zset_command(const std::string& name, const Arguments& words);
  Reply add(const std::string& key, std::int64_t step);
  Reply publish(const std::string& channel, const std::string& text);

  std::int64_t now_;
  std::int64_t micros_ = 0;
  std::map<std::string, Value> values_;
  std::vector<std::pair<std::string, int>> listeners_;
  std::vector<Delivery> deliveries_;
  Audience audience_{};
  std::int64_t commands_ = 0;
};

}  // namespace rlock::model
