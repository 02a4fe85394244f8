#pragma once

#include <string>
#include <vector>

#include "cmd/cli/json.h"
#include "sync/watch/inspection.h"

namespace rlock {

/// One item of `holders` of a key.
Json holder_json(const Holder& holder);

/// One item of `keys` of the JSON document.
Json inspection_json(const Inspection& seen);

/// The JSON document. `complete`: nothing is missing.
Json inspection_document(const std::vector<Inspection>& inspections, bool complete);

/// The same document in pieces, for more keys than are kept: next() for each key, then end().
class InspectionPages {
 public:
  std::string next(const Inspection& seen);
  std::string end(bool complete) const;  ///< REQUIRES: next() was called

 private:
  bool begun_ = false;
};

}  // namespace rlock
