#include "solve_advice.hpp"

#include <cctype>
#include <cstdio>
#include <variant>

#include "heddle/runtime/any_solver.hpp"
#include "tuning/planning/hidden_tiles.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::detail {

namespace {

std::string sentence(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text + ".";
}

bool has_room_for_copy(const AnyMatrix& matrix, const Device& host) {
  constexpr double parts = 3;  // multiple of the entries' bytes: values, columns, and some more
  return parts * static_cast<double>(matrix.entries()) * matrix.entry_bytes() <
         static_cast<double>(host.available_memory());
}

std::string advised_solve(const SolveAdvice& found,
                          const std::optional<MultigridAdvice>& multigrid) {
  if (multigrid && multigrid->is_advised) {
    char tolerance[32];
    std::snprintf(tolerance, sizeof tolerance, "%.0e", multigrid->tolerance);
    return "take cg with multigrid: " + std::to_string(multigrid->iterations) + " iterations to " +
           tolerance + ", where jacobi needs more than " +
           std::to_string(multigrid->most_of_jacobi);
  }
  const bool is_bare = found.preconditioner == "none";
  return "take " + found.solver +
         (is_bare ? " without a preconditioner" : " with " + found.preconditioner) +
         ", as a solve does by default: " + found.solver_reason;
}

SolveAdvice advice_on_rectangular(const AnyMatrix& matrix) {
  const bool has_adjoint = std::visit([](const auto& entry) { return entry->adjoint != nullptr; },
                                      entry_table_of(matrix));
  if (!has_adjoint) {
    return {"", "", "", "", "Least squares need entries with an adjoint, and these have none."};
  }
  const std::string why = reason_for_rectangular(matrix);
  return {std::string(lsmr_method.info.name), why, "none", "lsmr takes none",
          "Take lsmr, as a solve does by default: " + why + "."};
}

}  // namespace

SolveAdvice solve_advice(const AnyMatrix& matrix, const std::optional<MultigridAdvice>& multigrid,
                         bool multiplies, const Device& host) {
  if (matrix.rows() != matrix.columns()) return advice_on_rectangular(matrix);
  const ChosenPreconditioner preconditioner =
      choose_preconditioner(PreconditionerKind::automatic, matrix, 0, host);
  MethodChoice method = choose_method("auto", matrix, preconditioner.choice, host);
  method.looks_at_diagonal(matrix, preconditioner.choice, 0);
  if (multiplies && matrix.entries() > 0 && has_room_for_copy(matrix, host)) {
    method.looks_at_products(AnyOperator(matrix, parse_plan("CSR"), host), 0);
  }
  SolveAdvice found{std::string(method.method->name), method.reason, preconditioner.choice.text(),
                    preconditioner.reason, ""};
  found.text = sentence(advised_solve(found, multigrid));
  if (const auto tiles = hidden_tiles(matrix)) found.text += " " + sentence(advice_on(*tiles));
  return found;
}

}  // namespace heddle::detail
