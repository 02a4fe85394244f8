#include "cmd/view/key_table.h"

#include "cmd/view/key_row.h"
#include "cmd/view/table.h"

namespace rlock {

std::vector<std::string> key_table(const std::vector<Inspection>& keys, std::size_t columns) {
  std::vector<std::vector<std::string>> rows{
      {"KEY", "TYPE", "STATE", "HOLDER", "FREE", "FOR", "FREES", "WAITING", "REASON"}};
  for (const Inspection& seen : keys) {
    KeyRow row = key_row(seen);
    rows.push_back({std::move(row.key), std::move(row.type), std::move(row.state), std::move(row.holder),
                    std::move(row.available), std::move(row.held_for), std::move(row.frees),
                    std::move(row.waiting), std::move(row.reason)});
  }
  // A narrow terminal cuts these columns: KEY, HOLDER and REASON.
  return table_lines(rows, {true, false, false, true, false, false, false, false, true}, columns);
}

}  // namespace rlock
