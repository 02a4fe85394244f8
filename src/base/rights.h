#pragma once

namespace rlock {

/// Throws Error{config} if we have more rights than our caller (a set-uid or set-gid file, file capabilities,
/// a security policy). The caller controls our arguments, environment, descriptors, limits and the
/// command, and could misuse the rights. main calls this before it reads any of these.
void refuse_borrowed_rights();

}  // namespace rlock
