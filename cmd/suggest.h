#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace rlock {

/// What somebody may have meant who typed `word`: the nearest of `known`, if it is near enough to be worth a question.
/// Near: one mistake in three letters at most, where swapped neighbours count as one.
std::optional<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known);

}  // namespace rlock
