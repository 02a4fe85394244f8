#include "cmd/view/inspection.h"

#include "cmd/view/survey.h"

namespace rlock {

Views inspect_each(Session& session, const LockName& name) {
  Survey survey{session, {name}};
  survey.run([](const Survey::Result&) { return false; });
  const Survey::Result& result = *survey.results().front();
  if (result.failure) fail(session, *result.failure);
  return result.views;
}

void fail(Session& session, const Failure& failure) {
  if (failure.kind == Error::internal) failure.fly();  // an answer out of shape: the server can be reached
  session.fail(failure);
}

Inspection inspect(Session& session, const LockName& name) {
  return agreed(inspect_each(session, name).seen);
}

}  // namespace rlock
