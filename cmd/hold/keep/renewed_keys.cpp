#include "cmd/hold/keep/renewed_keys.h"

#include <utility>

namespace rlock {

RenewedKeys::RenewedKeys(Redis& redis, const HeldKeys& keys, TimePoint listen_at,
                         std::function<void(const std::string&)> report_trouble,
                         std::shared_ptr<Mailbox> of_wait)
    : redis_(redis),
      keys_(keys),
      report_trouble_(std::move(report_trouble)),
      parts_(keys.parts()),
      messages_(redis, parts_, listen_at, std::move(of_wait)) {
  keep(keys.lease());
}

void RenewedKeys::keep(const Lease& lease) {
  Keeper::Options options = keys_.renewing();
  options.lease = lease;
  options.parts = parts_;
  options.report_trouble = report_trouble_;
  keeper_.emplace(redis_, std::move(options));
}

std::optional<Loss> RenewedKeys::loss() {
  if (parts_.empty() || !keeper_->lost()) return std::nullopt;
  if (keeper_->taken_away() && messages_.removed()) return Loss::removed_by(*messages_.removed());
  return Loss{keeper_->why()};
}

/// If another process of the owner has released a hold, it may have been ours. If it was not, our renewal shows people
/// who holds the key now.
void RenewedKeys::read_messages() {
  if (messages_.take_confirmation()) keeper_->look_now();
  if (messages_.take_release()) {
    released_ = true;
    keeper_->look_now();
  }
  if (!messages_.take_removal()) return;
  if (keys_.owner_returns()) return keeper_->removed();
  keeper_->look_now();
}

bool RenewedKeys::take_release() {
  read_messages();
  return std::exchange(released_, false) || keeper_->lost();
}

HeldLock RenewedKeys::lock() {
  return {.name = [this] { return names(); },
          .deadlines = [this] { return Deadlines{keeper_->stop_at(), keeper_->kill_at()}; },
          .renewed = keeper_->lease().budget.renews,
          .asked_to_stop = [this] { return messages_.asked(); },
          .read_messages = [this] { read_messages(); },
          .lost = [this]() -> std::optional<std::string> {
            const auto lost = loss();
            return lost ? std::optional{lost->why} : std::nullopt;
          }};
}

void RenewedKeys::keep_only(std::vector<Part> parts) {
  if (parts.size() == parts_.size()) return;
  parts_ = std::move(parts);
  if (!parts_.empty()) keep(keeper_->lease());
}

}  // namespace rlock
