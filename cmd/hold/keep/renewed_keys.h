#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/key_text.h"
#include "cmd/hold/command/held_processes.h"
#include "cmd/hold/keys/held_keys.h"
#include "cmd/hold/keys/hold_messages.h"
#include "cmd/hold/report/hold_end.h"
#include "sync/hold/keeper.h"

namespace rlock {

/// Keys that are held for a command or a script. Renews them, and listens to the messages of `rlock stop`,
/// `rlock unlock` and `rlock lock release`. REQUIRES: redis and keys outlive it.
class RenewedKeys {
 public:
  /// `listen_at`: when it begins to listen to messages. `report_trouble`: see Keeper::Options. `of_wait`: see
  /// Acquired::mailbox; null in another process than that of the wait.
  RenewedKeys(Redis& redis, const HeldKeys& keys, TimePoint listen_at,
              std::function<void(const std::string&)> report_trouble, std::shared_ptr<Mailbox> of_wait);

  /// The parts that are renewed.
  const std::vector<Part>& parts() const noexcept { return parts_; }
  std::string names() const { return quoted(names_of(parts_)); }

  const Keeper& keeper() const noexcept { return *keeper_; }

  /// Why the keys are not ours any more; empty: they are ours, or their owner has released all of them.
  std::optional<Loss> loss();

  /// The facts about these keys for HeldProcesses.
  HeldLock lock();

  /// Ends the renewals (see Keeper::stop()) and the subscriptions of the wait: the release comes next.
  void stop(const Patience& patience) {
    keeper_->stop(patience);
    messages_.end_wait();
  }

  /// Returns whether another process of the owner may have released some of the keys. That is so if a message has come
  /// since the last call, or if the keys are lost.
  bool take_release();

  /// Stops renewing all parts but these, which keep the known rest of their lease and are renewed as before.
  void keep_only(std::vector<Part> parts);

 private:
  void read_messages();
  void keep(const Lease& lease);

  Redis& redis_;
  const HeldKeys& keys_;
  std::function<void(const std::string&)> report_trouble_;
  std::vector<Part> parts_;
  std::optional<Keeper> keeper_;
  HoldMessages messages_;
  bool released_ = false;  ///< for take_release()
};

}  // namespace rlock
