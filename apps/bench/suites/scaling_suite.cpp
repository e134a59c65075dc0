// Growth of a product's cost with the number of rows, and with the entries of a row.
#include "suite.hpp"

namespace heddle::bench {

void scaling_suite(Session& session, const Problem& problem, bool against_length) {
  measure_products(
      session, problem,
      record_of("scaling", problem, against_length ? "against row length" : "against rows"), false,
      session.settings().plans);
}

}  // namespace heddle::bench
