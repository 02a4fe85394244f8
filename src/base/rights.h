#pragma once

namespace rlock {

/// Throws Error{config} when we have more rights than whoever started us (a set-uid or set-gid file, file
/// capabilities, a security policy): arguments, environment, descriptors and limits are the caller's, and so
/// is the command. The first call of main.
void refuse_borrowed_rights();

}  // namespace rlock
