#pragma once

namespace rlock {

/// Opens /dev/null on those of descriptors 0 to 2 that we were started without, so that no socket of ours
/// becomes the stdout of a program. They are close-on-exec: a command gets them
/// closed, as it would without rlock.
/// The first call of main. Throws Error{system} when nothing can be opened there.
void fill_std_descriptors();

}  // namespace rlock
