#include "cmd/verbs/lease_option.h"

#include "base/error.h"

namespace rlock {

Option& declare_lease(VerbSpec& spec, std::optional<Milliseconds>& lease, std::string_view help,
                      std::string_view manual) {
  spec.add({.names = "--lease", .value = "DUR", .help = help, .manual = manual, .set = into(lease)});
  spec.other_tools.push_back({"--ttl", "did you mean --lease?"});
  return spec.groups.back().options.back();
}

void declare_renewed_lease(VerbSpec& spec, std::optional<Milliseconds>& lease, std::string_view standard) {
  declare_lease(spec, lease, "end the lease DUR from now", standard);
}

std::optional<Milliseconds> noted_lease(const Holder& holder) {
  const bool noted = holder.facts && !holder.facts->inner && holder.facts->lease > Milliseconds{0};
  if (noted) return holder.facts->lease;
  return std::nullopt;
}

void refuse_unknown_lease() {
  throw Error{Error::usage, "--lease is missing: rlock finds no note of the lease before"};
}

}  // namespace rlock
