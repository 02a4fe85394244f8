#pragma once

namespace rlock {

/// Makes one function of several, for std::visit. A new alternative of the variant without a function does not compile.
template <class... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

}  // namespace rlock
