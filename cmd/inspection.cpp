#include "cmd/inspection.h"

namespace rlock {

Inspection inspect(Session& session, const LockName& name) {
  const KnownFacts known = read_facts(session.any_answer(ask_facts(name)));
  Inspection inspection = read_look(name, known, session.ask(look(name, known.facts)));
  inspection.subscribers = read_listeners(session.any_answer(count_listeners(inspection)));
  return inspection;
}

}  // namespace rlock
