// The plan of a lease without its margin, so KILL comes when the lease ends. tests/chaos/run must catch this defect.

#define plan_budget plan_with_margin
#include "sync/hold/lease.cpp"
#undef plan_budget

namespace rlock {

Budget plan_budget(const LeaseTerms& terms) {
  Budget budget = plan_with_margin(terms);
  budget.margin = Milliseconds{0};
  return budget;
}

}  // namespace rlock
