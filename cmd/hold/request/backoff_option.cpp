#include "cmd/hold/request/backoff_option.h"

#include "base/error.h"

namespace rlock {
namespace {

/// "64..128ms": a MIN without a unit takes the unit of MAX.
std::string with_unit_of(std::string_view other, std::string_view number) {
  constexpr std::string_view kNumber = "0123456789.";
  const bool bare = !number.empty() && number.find_first_not_of(kNumber) == number.npos;
  const std::size_t unit = other.find_first_not_of(kNumber);
  // If MAX has several units, such as 1m30s, it is not clear which one is meant.
  const bool one = unit != other.npos && other.find_first_of(kNumber, unit) == other.npos;
  return std::string{number} + std::string{bare && one ? other.substr(unit) : ""};
}

Setter backoff_into(std::optional<Waitable::Pause>& backoff) {
  return [&backoff](std::string_view value) {
    const std::size_t dots = value.find("..");
    // "1...5" would mean 1 and .5, which is surely a mistake.
    if (dots == std::string_view::npos || value.substr(dots).starts_with("..."))
      throw Error{Error::usage, "expected MIN..MAX"};
    const std::string_view most = value.substr(dots + 2);
    const Waitable::Pause pause{parse_duration(with_unit_of(most, value.substr(0, dots))),
                                parse_duration(most)};
    if (pause.least == Milliseconds::zero()) throw Error{Error::usage, "MIN must be more than zero"};
    if (pause.least > pause.most) throw Error{Error::usage, "MIN is more than MAX"};
    backoff = pause;
  };
}

}  // namespace

void declare_backoff(VerbSpec& spec, HoldRequest& request) {
  spec.add(
      {.names = "--backoff",
       .value = "MIN..MAX",
       .manual =
           "Pause this long between two tries of type spin or plain, whose waiters are not woken up. The pause "
           "doubles from MIN to MAX, with jitter. Default: 1ms..128ms for spin, 10ms..500ms for plain. A MIN "
           "without a unit has the unit of MAX.",
       .set = backoff_into(request.type_options.backoff),
       .configurable = true,
       .set_default = [&request](std::string_view value) {
         std::optional<Waitable::Pause> pause;
         backoff_into(pause)(value);
         if (request.type != nullptr && request.type->polls) request.type_options.backoff = pause;
       }});
}

}  // namespace rlock
