// The method that solves, and the reason: named by the user, or suited to the matrix.
#pragma once

#include <string>
#include <string_view>

#include "heddle/method_info.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tuning/objective.hpp"

namespace heddle {

/// A --solver without a listing, and so without a row of `method_table()`: a class of its own.
struct UnlistedMethod {
  MethodInfo info;         // except for the listing
  std::string_view words;  // description in the help
};
inline constexpr UnlistedMethod block_cg_method{
    block_conjugate_gradient_info,
    "Hermitian positive definite, 1 to 16 right-hand sides in one Krylov space"};
inline constexpr UnlistedMethod lsmr_method{
    {.name = "lsmr", .title = "LSMR", .type = "", .header = ""}, "least squares, of any shape"};

/// True if it has a row of `method_table()`.
inline bool is_listed(const MethodInfo& method) { return !method.type.empty(); }

struct MethodChoice {
  const MethodInfo* method = &method_table().front();
  std::string reason;
  bool is_free = false;  // not named by the user

  /// Before a solve: returns true if the choice has changed, since a method that the user did not
  /// name needs a positive definite matrix, and signs of the diagonal or `products_of_look`
  /// products show that A + shift I is not. `matrix` is A.
  bool looks_ahead(const AnyMatrix& entries, const AnyLinearOperator& matrix,
                   const ComposedChoice& preconditioner, double shift);
  /// Each of the two alone; the second one does nothing where the first one found another method.
  bool looks_at_diagonal(const AnyMatrix& entries, const ComposedChoice& preconditioner,
                         double shift);
  bool looks_at_products(const AnyLinearOperator& matrix, double shift);

  /// After a solve: returns true if the method turns out to be wrong for this matrix and the user
  /// did not name it. The choice has then changed.
  bool gives_way(const Report& report);
};

/// Rows whose diagonal entry has no inverse, where a preconditioner takes 1 instead.
struct UnitRows {
  Index count = 0;
  Index first = 0;  // of all ranks' rows

  std::string text() const;
};

struct ChosenPreconditioner {
  ComposedChoice choice;
  std::string reason;
  UnitRows units = {};
};

/// For auto: Jacobi where a diagonal entry has an inverse, otherwise none; none also for A + shift
/// I, which stores no entries. Everything else stays as named.
ChosenPreconditioner choose_preconditioner(const ComposedChoice& named, const AnyMatrix& matrix,
                                           double shift, const Device& device);
/// The same for rows from `first_row` on, whose columns are those of the whole matrix.
ChosenPreconditioner choose_preconditioner_of_rows(const ComposedChoice& named,
                                                   const AnyMatrix& rows, Index first_row,
                                                   double shift, const Device& device);

/// The methods, as described in the help.
std::string methods_in_words();

/// Throws `Error` (usage) unless `text` is auto or names a method.
void check_method(const std::string& text);

/// The objective of the method's plan, with `systems` right-hand sides.
Objective objective_of(const MethodInfo& method, int systems);

/// True if the table has a method of that name with the property.
bool has_method(const std::string& text, bool MethodInfo::* property);

/// For auto: FGMRES for a preconditioner that varies, the first method of the table for Hermitian
/// matrices, COCR for complex symmetric ones, otherwise, or where the preconditioner is not of that
/// kind, the first method for all matrices; looks at all entries.
MethodChoice choose_method(const std::string& text, const AnyMatrix& matrix,
                           const ComposedChoice& preconditioner, const Device& device);

}  // namespace heddle
