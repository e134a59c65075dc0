// The preconditioner, or the composition of several, that an option names.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/multigrid.hpp"

namespace heddle {

/// `automatic` is Jacobi if a diagonal entry has an inverse, and none otherwise.
enum class PreconditionerKind {
  automatic,
  none,
  jacobi,
  block_jacobi,
  chebyshev,
  neumann,
  fsai,
  isai,
  cr,
  gmres,
  multigrid,
  direct
};

/// The adjoint of a preconditioner M(A): M(A*), M(A) itself, or none of these.
enum class AdjointOf { adjoint_matrix, itself, none };

/// A kind as options name it, and the number that may follow it: `name` or `name:number`.
struct PreconditionerInfo {
  PreconditionerKind kind;
  std::string_view name;
  std::string_view number = "";  // its meaning; empty: none may follow
  /// The number if none follows, 0 if the matrix decides; it is 1 to `max_number`.
  int default_number = 0, max_number = 0;
  bool is_of_all_entries = false;  // and not of products and the diagonal
  bool is_hermitian = true;        // if the matrix is
  bool is_symmetric = true;        // complex symmetric, if the matrix is
  bool varies = false;             // then only flexible methods take it
  bool takes_products = false;     // products are enough if the matrix stores no entries
  bool is_alone = false;           // then no composition has it as a part
  AdjointOf adjoint = AdjointOf::none;
};

HEDDLE_EXPORT std::span<const PreconditionerInfo> preconditioner_table();

/// The kind as help describes it: "jacobi", "chebyshev[:degree=4]".
HEDDLE_EXPORT std::string in_words(const PreconditionerInfo& info);

struct HEDDLE_EXPORT PreconditionerChoice {
  PreconditionerKind kind = PreconditionerKind::none;
  int number = 0;

  /// Uses the kind's usual number.
  PreconditionerChoice(PreconditionerKind kind);
  PreconditionerChoice(PreconditionerKind kind, int number) : kind(kind), number(number) {}

  /// Its row of the table.
  const PreconditionerInfo& info() const;
  /// The text of the option, without the kind's usual number.
  std::string text() const;
  bool operator==(const PreconditionerChoice&) const = default;
};

/// Throws `Error` (usage) that lists the existing names.
HEDDLE_EXPORT PreconditionerChoice parse_preconditioner(std::string_view text);

/// The settings of multigrid besides its number.
struct HEDDLE_EXPORT MultigridChoice {
  Cycle cycle = Cycle::v;
  Smoother smoother = Smoother::chebyshev;
  Interpolation interpolation = Interpolation::smoothed;
  double strength = MultigridOptions{}.strength;
  StoredScalar level_precision = StoredScalar::own;
  /// A point for each row in the user's order: candidates are the motions of a rigid body, over
  /// real blocks of 2 x 2 or 3 x 3. Null: constants.
  std::shared_ptr<const std::vector<std::array<double, 3>>> points = nullptr;
  /// The caller's own candidates in place of these: fields in the user's order, row by row.
  std::shared_ptr<const std::vector<std::vector<double>>> candidates = nullptr;
  /// True: the candidates of `adaptive_candidates` instead.
  bool is_adaptive = false;
  bool estimates_again = false;  // see `MultigridOptions`
};

/// The values by their names in options. Null for no such name.
HEDDLE_EXPORT std::optional<Cycle> find_cycle(std::string_view name);
HEDDLE_EXPORT std::optional<Smoother> find_smoother(std::string_view name);
HEDDLE_EXPORT std::optional<Interpolation> find_interpolation(std::string_view name);
/// The names are full and single.
HEDDLE_EXPORT std::optional<StoredScalar> find_level_precision(std::string_view name);
HEDDLE_EXPORT std::string_view name(Cycle cycle);
HEDDLE_EXPORT std::string_view name(Smoother smoother);
HEDDLE_EXPORT std::string_view name(Interpolation interpolation);
HEDDLE_EXPORT std::string_view name_of_level_precision(StoredScalar precision);

/// One preconditioner or several, combined as in composed_preconditioner.hpp: `a*b` is their
/// product, in which b comes first, and `a,b` the multiplicative combination, where b is applied to
/// the residual that a leaves. Products bind tighter, and parts that are written the same way are
/// one object. Multigrid's number may be followed, or replaced, by a cycle, a smoother, an
/// interpolation and a precision of its levels: `multigrid:k:gauss-seidel:plain:single`.
class HEDDLE_EXPORT ComposedChoice {
 public:
  using Product = std::vector<PreconditionerChoice>;

  ComposedChoice(PreconditionerKind kind) : ComposedChoice(PreconditionerChoice(kind)) {}
  ComposedChoice(const PreconditionerChoice& choice) : terms_{{choice}} {}

  /// Throws `Error` (usage) that names the invalid part.
  static ComposedChoice parse(std::string_view text);

  /// Terms of the combination, at least one, each with at least one factor.
  const std::vector<Product>& terms() const { return terms_; }
  std::string text() const;

  /// If the matrix is: true for Hermitian, or complex symmetric, parts that read the same from both
  /// ends, such as `a*b*a`.
  bool is_hermitian() const;
  bool is_symmetric() const;
  /// True if it is one part that is Hermitian whatever the matrix is, or refuses one that is not.
  bool is_own_adjoint() const;
  /// True if the adjoint is `reversed`, of parts each of which is Hermitian or made from A*.
  bool has_adjoint() const;
  /// Terms, and factors of each term, from the last to the first.
  ComposedChoice reversed() const;
  /// True if only flexible methods take it.
  bool varies() const;
  /// True if a part is made from all entries.
  bool is_of_all_entries() const;
  bool has(PreconditionerKind kind) const;

  /// The settings of its parts that are multigrid.
  MultigridChoice multigrid = {};

 private:
  ComposedChoice() = default;

  std::vector<Product> terms_;
};

/// Facts of a preconditioner that was made from its choice.
struct PreconditionerFacts {
  std::function<MultigridReport()> multigrid;  // the report of the last multigrid among its parts
  long long copied_bytes = 0;  // entries that it keeps in sliced storage if the matrix has another
};

/// Throws `Error` (usage) for a part that is made from stored entries, for an operator that has
/// none, such as A + sigma I.
HEDDLE_EXPORT void check_needs_no_entries(const ComposedChoice& choice);

/// The table as help describes it: "none, jacobi".
HEDDLE_EXPORT std::string preconditioners_in_words();
/// The text that may follow it in help: how they are combined.
HEDDLE_EXPORT std::string compositions_in_words();

}  // namespace heddle
