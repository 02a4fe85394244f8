#pragma once

#include <cstddef>
#include <span>
#include <tuple>
#include <utility>

#include "redis/reply.h"

namespace rlock {

/// See rows_of().
template <std::size_t Width>
class Rows {
 public:
  explicit Rows(std::span<const Reply> items)
      : first_{items.data()}, end_{items.data() + items.size() / Width * Width} {}

  struct Row {
    const Reply* at;

    auto operator*() const {
      return [this]<std::size_t... Item>(std::index_sequence<Item...>) {
        return std::tie(at[Item]...);
      }(std::make_index_sequence<Width>{});
    }
    Row& operator++() {
      at += Width;
      return *this;
    }
    bool operator==(const Row&) const = default;
  };

  Row begin() const { return first_; }
  Row end() const { return end_; }

 private:
  Row first_, end_;
};

/// The rows of a flat array, each a tuple of `Width` items. An incomplete last row is left out.
template <std::size_t Width>
Rows<Width> rows_of(std::span<const Reply> items) {
  return Rows<Width>{items};
}

}  // namespace rlock
