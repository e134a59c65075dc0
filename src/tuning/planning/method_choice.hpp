// Which method solves, and why: as named, or for what the matrix is.
#pragma once

#include <string>
#include <string_view>

#include "heddle/method_info.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tuning/objective.hpp"

namespace heddle {

/// A --solver that has no listing, and so no row of `method_table()`: a class of its own.
struct UnlistedMethod {
  MethodInfo info;         // but for the listing
  std::string_view words;  // what help says of it
};
inline constexpr UnlistedMethod block_cg_method{
    block_conjugate_gradient_info,
    "Hermitian positive definite, 1 to 16 right-hand sides in one Krylov space"};
inline constexpr UnlistedMethod lsmr_method{
    {.name = "lsmr", .title = "LSMR", .type = "", .header = ""}, "least squares, of any shape"};

/// Whether it has a row of `method_table()`.
inline bool is_listed(const MethodInfo& method) { return !method.type.empty(); }

struct MethodChoice {
  const MethodInfo* method = &method_table().front();
  std::string reason;
  bool is_free = false;  // nobody has named it

  /// Before a solve: true where the choice is another, since a method that nobody has named needs a
  /// positive definite matrix, and signs of the diagonal or `products_of_look` products show that
  /// A + shift I is none. `matrix` is A.
  bool looks_ahead(const AnyMatrix& entries, const AnyLinearOperator& matrix,
                   const ComposedChoice& preconditioner, double shift);
  /// One of them alone; the second one looks no more where the first one has found another method.
  bool looks_at_diagonal(const AnyMatrix& entries, const ComposedChoice& preconditioner,
                         double shift);
  bool looks_at_products(const AnyLinearOperator& matrix, double shift);

  /// After a solve: true where the method turns out not to be for this matrix and nobody has named
  /// it. The choice is then another.
  bool gives_way(const Report& report);
};

struct ChosenPreconditioner {
  ComposedChoice choice;
  std::string reason;
};

/// With auto, Jacobi where every diagonal entry has an inverse, else none, as of A + shift I, which
/// stores no entries; all else as it is named.
ChosenPreconditioner choose_preconditioner(const ComposedChoice& named, const AnyMatrix& matrix,
                                           double shift, const Device& device);
/// The same of rows from `first_row` on, whose columns are those of the whole matrix.
ChosenPreconditioner choose_preconditioner_of_rows(const ComposedChoice& named,
                                                   const AnyMatrix& rows, Index first_row,
                                                   double shift, const Device& device);

/// The methods, as help tells of them.
std::string methods_in_words();

/// Throws `Error` (usage) unless `text` is auto or names a method.
void check_method(const std::string& text);

/// What its plan is to make fast, with so many right-hand sides.
Objective objective_of(const MethodInfo& method, int systems);

/// Whether the table has a method of that name that has the property.
bool has_method(const std::string& text, bool MethodInfo::* property);

/// With auto, FGMRES for a preconditioner that varies, the first method of the table for Hermitian
/// matrices, COCR for complex symmetric ones, else, or where the preconditioner is not of that
/// kind, the first one for all; looks at all entries.
MethodChoice choose_method(const std::string& text, const AnyMatrix& matrix,
                           const ComposedChoice& preconditioner, const Device& device);

}  // namespace heddle
