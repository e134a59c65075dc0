// Which preconditioner, or which composition of several, an option names.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/multigrid.hpp"

namespace heddle {

/// `automatic` is Jacobi where every diagonal entry has an inverse, and none elsewhere.
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
  multigrid
};

/// A kind as options name it, and the number that may follow it: `name` or `name:number`.
struct PreconditionerInfo {
  PreconditionerKind kind;
  std::string_view name;
  std::string_view number = "";  // its meaning; empty: none may follow
  /// The number where none follows, 0 where the matrix decides; it is 1 to `most`.
  int usual = 0, most = 0;
  bool is_hermitian = true;   // where the matrix is
  bool is_symmetric = true;   // complex symmetric, where the matrix is
  bool varies = false;        // so that only flexible methods take it
  bool needs_entries = true;  // false: products with the matrix are enough
  bool is_alone = false;      // so that no composition has it as a part
};

HEDDLE_EXPORT std::span<const PreconditionerInfo> preconditioner_table();

/// The kind as help tells of it: "jacobi", "chebyshev[:degree=4]".
HEDDLE_EXPORT std::string in_words(const PreconditionerInfo& info);

struct HEDDLE_EXPORT PreconditionerChoice {
  PreconditionerKind kind = PreconditionerKind::none;
  int number = 0;

  /// With the kind's usual number.
  PreconditionerChoice(PreconditionerKind kind);
  PreconditionerChoice(PreconditionerKind kind, int number) : kind(kind), number(number) {}

  /// Its row of the table.
  const PreconditionerInfo& info() const;
  /// As options have it, without the kind's usual number.
  std::string text() const;
  bool operator==(const PreconditionerChoice&) const = default;
};

/// Throws `Error` (usage) with the names that there are.
HEDDLE_EXPORT PreconditionerChoice parse_preconditioner(std::string_view text);

/// What multigrid is told beside its number.
struct HEDDLE_EXPORT MultigridChoice {
  Cycle cycle = Cycle::v;
  Smoother smoother = Smoother::chebyshev;
  Interpolation interpolation = Interpolation::smoothed;
  double strength = MultigridOptions{}.strength;
  StoredScalar level_precision = StoredScalar::own;
  /// Of each row in the user's order: candidates are the motions of a rigid body, over real blocks
  /// of 2 x 2 or 3 x 3. Null: constants.
  std::shared_ptr<const std::vector<std::array<double, 3>>> points = nullptr;
  /// Candidates of the caller's in their place: fields in the user's order, row by row.
  std::shared_ptr<const std::vector<std::vector<double>>> candidates = nullptr;
  /// Or those of `adaptive_candidates`.
  bool is_adaptive = false;
  bool estimates_again = false;  // as `MultigridOptions` has it
};

/// As options name them. Null for no such name.
HEDDLE_EXPORT std::optional<Cycle> find_cycle(std::string_view name);
HEDDLE_EXPORT std::optional<Smoother> find_smoother(std::string_view name);
HEDDLE_EXPORT std::optional<Interpolation> find_interpolation(std::string_view name);
/// full, single.
HEDDLE_EXPORT std::optional<StoredScalar> find_level_precision(std::string_view name);
HEDDLE_EXPORT std::string_view name(Cycle cycle);
HEDDLE_EXPORT std::string_view name(Smoother smoother);
HEDDLE_EXPORT std::string_view name(Interpolation interpolation);
HEDDLE_EXPORT std::string_view name_of_level_precision(StoredScalar precision);

/// One preconditioner or several, as composed_preconditioner.hpp combines them: `a*b` is their
/// product, of which b comes first, and `a,b` the multiplicative combination, where b takes what a
/// has left. Products bind tighter, and parts that are written alike are one object. Multigrid's
/// number may be followed, or replaced, by a cycle, a smoother, an interpolation and a precision of
/// its levels: `multigrid:k:gauss-seidel:plain:single`.
class HEDDLE_EXPORT ComposedChoice {
 public:
  using Product = std::vector<PreconditionerChoice>;

  ComposedChoice(PreconditionerKind kind) : ComposedChoice(PreconditionerChoice(kind)) {}
  ComposedChoice(const PreconditionerChoice& choice) : terms_{{choice}} {}

  /// Throws `Error` (usage) that names the part which is none.
  static ComposedChoice parse(std::string_view text);

  /// Terms of the combination, at least one, each with at least one factor.
  const std::vector<Product>& terms() const { return terms_; }
  std::string text() const;

  /// Where the matrix is: of Hermitian, or complex symmetric, parts that read the same from both
  /// ends, such as `a*b*a`.
  bool is_hermitian() const;
  bool is_symmetric() const;
  /// So that only flexible methods take it.
  bool varies() const;
  bool has(PreconditionerKind kind) const;

  /// Of its parts that are multigrid.
  MultigridChoice multigrid = {};

 private:
  ComposedChoice() = default;

  std::vector<Product> terms_;
};

/// Which entries of the matrix a preconditioner is made of.
enum class NeededEntries { none, diagonal, all };
HEDDLE_EXPORT NeededEntries needed_entries(const ComposedChoice& choice);

/// Throws `Error` (usage) for a part that is made of stored entries, which A + sigma I has not.
HEDDLE_EXPORT void check_needs_no_entries(const ComposedChoice& choice);

/// The table as help tells of it: "none, jacobi".
HEDDLE_EXPORT std::string preconditioners_in_words();
/// What may follow that in help: how they are combined.
HEDDLE_EXPORT std::string compositions_in_words();

}  // namespace heddle
