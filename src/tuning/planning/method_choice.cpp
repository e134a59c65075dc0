#include "method_choice.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/text/names.hpp"
#include "definiteness.hpp"
#include "heddle/error.hpp"
#include "heddle/tuning/features.hpp"

namespace heddle {

namespace {

constexpr const char* automatic = "auto";
constexpr const UnlistedMethod* unlisted[] = {&block_cg_method, &lsmr_method};

/// Null where the method is listed or unknown.
const UnlistedMethod* find_unlisted(const std::string& text) {
  const auto* const found =
      std::find_if(std::begin(unlisted), std::end(unlisted),
                   [&](const auto* m) { return is_same_name(m->info.name, text); });
  return found == std::end(unlisted) ? nullptr : *found;
}

/// A bound as strict as that of conjugate gradient.
double rounding_of(Precision precision) {
  return std::sqrt(precision == Precision::single_precision
                       ? static_cast<double>(std::numeric_limits<float>::epsilon())
                       : std::numeric_limits<double>::epsilon());
}

/// The first method that takes every matrix.
const MethodInfo* method_for_all() {
  return &*std::find_if(method_table().begin(), method_table().end(), [](const MethodInfo& method) {
    return !method.needs_hermitian && !method.needs_symmetric;
  });
}

/// Rows that count as those of the identity, in preconditioners that begin with the diagonal.
UnitRows units_of(const RowsWithoutInverse& found, Index first_row) {
  return {found.count, first_row + found.first};
}
UnitRows units_of(const ComposedChoice& choice, const AnyMatrix& rows, Index first_row,
                  const Device& device) {
  constexpr PreconditionerKind kinds[] = {
      PreconditionerKind::jacobi, PreconditionerKind::chebyshev, PreconditionerKind::neumann,
      PreconditionerKind::cr,     PreconditionerKind::gmres,     PreconditionerKind::multigrid};
  const bool inverts_diagonal =
      std::any_of(std::begin(kinds), std::end(kinds),
                  [&](PreconditionerKind kind) { return choice.has(kind); });
  if (!inverts_diagonal) return {};
  return units_of(rows_without_inverse(rows, Device::cpu(device.threads()), first_row), first_row);
}

/// The choice with another kind; its multigrid settings remain.
ComposedChoice with_kind(const ComposedChoice& choice, PreconditionerKind kind) {
  ComposedChoice other(kind);
  other.multigrid = choice.multigrid;
  return other;
}

}  // namespace

bool MethodChoice::looks_ahead(const AnyMatrix& entries, const AnyLinearOperator& matrix,
                               const ComposedChoice& preconditioner, double shift) {
  return looks_at_diagonal(entries, preconditioner, shift) || looks_at_products(matrix, shift);
}

bool MethodChoice::looks_at_diagonal(const AnyMatrix& entries, const ComposedChoice& preconditioner,
                                     double shift) {
  if (!is_free || !method->needs_positive) return false;
  const auto signs = diagonal_signs(entries, shift);
  if (!signs) return false;
  const bool is_bare = preconditioner.text() == "none";
  if (!signs->has_negative && signs->row_of_zero) {
    const bool is_indefinite = preconditioner.has(PreconditionerKind::direct) ||
                               preconditioner.has(PreconditionerKind::block_jacobi);
    method = is_indefinite ? method_for_all() : &find_method("minres");
    reason = "the matrix is Hermitian and not positive definite: row " +
             std::to_string(*signs->row_of_zero) + " (counted from 0) has 0 on the diagonal";
    return true;
  }
  if (!signs->has_negative) return false;
  // Jacobi, and any preconditioner made with it, has the signs of the diagonal.
  reason = signs->has_positive ? "the diagonal has both signs" : "the diagonal is negative";
  if (!is_bare) reason += ", so the preconditioner is indefinite";
  method = is_bare ? &find_method("minres") : method_for_all();
  return true;
}

bool MethodChoice::looks_at_products(const AnyLinearOperator& matrix, double shift) {
  if (!is_free || !method->needs_positive) return false;
  const auto seen = smallest_seen(matrix, shift);
  if (!seen || !seen->is_negative) return false;
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", seen->value);
  method = &find_method("minres");
  reason = "the matrix is indefinite: " + std::to_string(seen->products) +
           " steps of Lanczos' method found an eigenvalue of " + text;
  return true;
}

bool MethodChoice::gives_way(const Report& report) {
  const std::string iterations = std::to_string(report.iterations) + " iterations";
  const auto turn_to = [&](const MethodInfo* other, std::string why) {
    method = other;
    reason = std::move(why);
    return true;
  };
  if (!is_free) return false;
  if (method->needs_positive && report.status == Status::indefinite) {
    return turn_to(&find_method("minres"),
                   std::string(method->title) + " found the matrix indefinite after " + iterations);
  }
  // With an indefinite matrix an exact zero may come first, as with a saddle point.
  if (method->needs_positive && report.status == Status::breakdown) {
    return turn_to(&find_method("minres"),
                   std::string(method->title) + " broke down after " + iterations);
  }
  if (method->needs_hermitian && report.status == Status::indefinite) {
    return turn_to(method_for_all(), "the preconditioner is indefinite");
  }
  if (method->needs_hermitian && report.status == Status::not_hermitian) {
    return turn_to(method_for_all(), "the matrix is not Hermitian");
  }
  const bool has_failed = report.status == Status::breakdown ||
                          (report.status == Status::not_finite && report.iterations > 0);
  if (method->needs_symmetric && has_failed) {
    return turn_to(method_for_all(),
                   std::string(method->title) + " broke down after " + iterations);
  }
  // On a skew matrix or a saddle point, the residual may only grow.
  const bool has_stagnated = report.status == Status::stagnated;
  if (method == method_for_all() && (has_failed || has_stagnated)) {
    return turn_to(&find_method("gmres"), std::string(method->title) +
                                              (has_stagnated ? " stagnated" : " broke down") +
                                              " after " + iterations);
  }
  return false;
}

ChosenPreconditioner choose_preconditioner(const ComposedChoice& named, const AnyMatrix& matrix,
                                           double shift, const Device& device) {
  return choose_preconditioner_of_rows(named, matrix, 0, shift, device);
}

ChosenPreconditioner choose_preconditioner_of_rows(const ComposedChoice& named,
                                                   const AnyMatrix& rows, Index first_row,
                                                   double shift, const Device& device) {
  if (!named.has(PreconditionerKind::automatic)) {
    return {named, "as named", shift == 0 ? units_of(named, rows, first_row, device) : UnitRows{}};
  }
  const auto none = [&](std::string why) {
    return ChosenPreconditioner{with_kind(named, PreconditionerKind::none), std::move(why)};
  };
  if (shift != 0) return none("Jacobi needs stored entries, and A + sigma I has none");
  const bool has_inverse =
      std::visit([](const auto& entry) { return entry->invert_diagonal != nullptr; },
                 detail::entry_table_of(rows));
  if (!has_inverse) return none("these entries define no inverse");
  const RowsWithoutInverse found =
      rows_without_inverse(rows, Device::cpu(device.threads()), first_row);
  if (found.not_finite < rows.rows()) {
    return none("the diagonal entry of row " + std::to_string(first_row + found.not_finite) +
                " (counted from 0) is not finite");
  }
  const UnitRows units = units_of(found, first_row);
  const bool has_all_rows = rows.rows() == rows.columns();
  if (has_all_rows && units.count == rows.rows()) return none("no diagonal entry has an inverse");
  return {with_kind(named, PreconditionerKind::jacobi),
          units.count == 0 ? "every diagonal entry has an inverse"
                           : "every diagonal entry has an inverse, or counts as 1",
          units};
}

std::string UnitRows::text() const {
  return std::to_string(count) + (count == 1 ? " entry has" : " entries have") +
         " no inverse and count" + (count == 1 ? "s" : "") + " as 1, the first in row " +
         std::to_string(first) + " (counted from 0)";
}

std::string methods_in_words() {
  std::string words;
  for (const MethodInfo& method : method_table()) {
    words += method.name;
    if (method.needs_positive || method.takes_interval) {
      words += " (Hermitian positive definite)";
    } else if (method.needs_hermitian) {
      words += " (Hermitian)";
    } else if (method.needs_symmetric) {
      words += " (complex symmetric)";
    }
    words += ", ";
  }
  for (const UnlistedMethod* const method : unlisted) {
    words += std::string(method->info.name) + " (" + std::string(method->words) + "), ";
  }
  return words + "or auto: one that the matrix allows";
}

void check_method(const std::string& text) {
  if (is_same_name(text, automatic) || find_unlisted(text) != nullptr) return;
  try {
    find_method(text);
  } catch (const Error& error) {
    std::string names = error.what();
    for (const UnlistedMethod* const method : unlisted) {
      names += " " + std::string(method->info.name);
    }
    throw Error(error.kind(), names + " " + automatic);
  }
}

Objective objective_of(const MethodInfo& method, int systems) {
  if (!is_listed(method)) return Objective::product(systems);
  return {&method, method.restarts ? 1 : systems};
}

bool has_method(const std::string& text, bool MethodInfo::* property) {
  const auto table = method_table();
  return std::any_of(table.begin(), table.end(), [&](const MethodInfo& method) {
    return is_same_name(method.name, text) && method.*property;
  });
}

MethodChoice choose_method(const std::string& text, const AnyMatrix& matrix,
                           const ComposedChoice& preconditioner, const Device& device) {
  if (const UnlistedMethod* const method = find_unlisted(text)) {
    return {&method->info, "by --solver", false};
  }
  if (!is_same_name(text, automatic)) return {&find_method(text), "by --solver", false};
  if (preconditioner.varies()) {
    return {&find_method("fgmres"), "the preconditioner " + preconditioner.text() + " varies",
            false};
  }
  const Features found = features(matrix, Device::cpu(device.threads()));
  if (!found.has_adjoint) return {method_for_all(), "these entries have no adjoint", true};
  const double rounding = rounding_of(matrix.precision());
  const auto unless = [&](bool is_suited, const char* kind, MethodChoice choice) -> MethodChoice {
    if (is_suited) return choice;
    return {method_for_all(), "the preconditioner " + preconditioner.text() + " is not " + kind,
            true};
  };
  if (found.symmetric_pattern && found.hermitian_defect <= rounding) {
    return unless(preconditioner.is_hermitian(), "Hermitian",
                  {&method_table().front(), "the matrix is Hermitian", true});
  }
  if (found.symmetric_pattern && found.has_transpose && found.symmetric_defect <= rounding) {
    return unless(preconditioner.is_symmetric(), "complex symmetric",
                  {&find_method("cocr"), "the matrix is complex symmetric", true});
  }
  return {method_for_all(), "the matrix is not Hermitian", true};
}

}  // namespace heddle
