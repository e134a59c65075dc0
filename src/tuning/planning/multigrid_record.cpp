#include "heddle/tuning/multigrid_record.hpp"

#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

std::string_view origin_of_candidates(const MultigridChoice& choice) {
  if (choice.is_adaptive) return "adaptive";
  if (choice.candidates) return "given";
  return choice.points ? "rigid-body" : "constant";
}

}  // namespace heddle
