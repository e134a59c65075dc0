// Operators, fields and solvers over entries that are chosen at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "heddle/detail/sliced.hpp"
#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/krylov_solver.hpp"
#include "heddle/method_info.hpp"
#include "heddle/plan.hpp"
#include "heddle/report.hpp"
#include "heddle/runtime/any_matrix.hpp"

namespace heddle {

/// An AoS field in the user's order and the host's memory, in single or double precision; `device`
/// says how many threads make it. Without rows when moved from.
class HEDDLE_EXPORT AnyField {
 public:
  /// Throws `Error` (size_mismatch) for sizes that no field has.
  AnyField(Index rows, int components, Precision precision, const Device& device);

  /// As `read_field<E>` with the entry and precision that are named.
  static AnyField read(const std::string& path, const AnyEntry& entry, Precision precision,
                       const Device& device = Device::cpu(), Progress* progress = nullptr);
  /// An array file of one entry a row; complex numbers where the entries are built-in ones over
  /// them.
  void write(const std::string& path, const AnyEntry& entry, Progress* progress = nullptr) const;

  Index rows() const;
  int components() const { return components_; }
  Precision precision() const {
    return scalars_.index() == 0 ? Precision::single_precision : Precision::double_precision;
  }

  /// On a GPU each is a copy to or from the host.
  double get(Offset scalar) const;
  void set(Offset scalar, double value);

  /// Throws `Error` (size_mismatch) unless S is the field's scalar.
  template <class S>
  FieldView<S> view();
  template <class S>
  FieldView<const S> view() const;

 private:
  int components_;
  std::variant<Array<float>, Array<double>> scalars_;
};

enum class PreconditionerKind { none, jacobi };
HEDDLE_EXPORT PreconditionerKind parse_preconditioner(std::string_view text);  // none, jacobi

class AnySolver;

/// A handle, as `Operator<E>` is; one that was moved from throws `Error` (usage).
class HEDDLE_EXPORT AnyOperator {
 public:
  AnyOperator(const AnyMatrix& matrix, const Plan& plan, const Device& device);

  /// As `Operator<E>::scheduled`.
  AnyOperator scheduled(const Plan& plan) const;

  AnyEntry entry() const;
  EntryKind kind() const { return entry().kind(); }
  Precision precision() const;
  Index rows() const;
  Index columns() const;
  const Plan& plan() const;
  const MemoryUse& memory() const;
  /// Of a product as iterations make it, see `LinearOperator::iterated`.
  long long compulsory_bytes() const;
  long long bytes_of_product() const;

  /// Fields in the user's order for y (rows) and x (columns).
  AnyField row_field() const;
  AnyField column_field() const;

  /// y = A x, both in the user's order.
  void apply(const AnyField& x, AnyField& y) const;

  /// What a program does again and again, on arrays of its own, so that it can be measured.
  class Work {
   public:
    virtual ~Work() = default;
    virtual void run(const Stream& stream) = 0;
  };
  class Product : public Work {
   public:
    /// y of the last run, in the user's order; waits for it.
    virtual void take(AnyField& y) const = 0;
  };
  /// y = A x in the operator's basis and layout: what a solver runs. `x` in the user's order.
  std::unique_ptr<Product> product(const AnyField& x) const;
  /// Solves of A x = b from x = 0 with fields in the operator's basis, layout and memory, where no
  /// solve has to bring them: what an iteration takes can be seen from few.
  class Iterations {
   public:
    virtual ~Iterations() = default;
    /// So many at most, whatever the solver's options say.
    virtual Report run(long long iterations) = 0;
    /// x of the last run, in the user's order.
    virtual void take(AnyField& x) const = 0;
  };
  /// `b` in the user's order. Throws as the solver's constructor.
  std::unique_ptr<Iterations> iterations(const MethodInfo& method,
                                         PreconditionerKind preconditioner,
                                         const SolverOptions& options, const AnyField& b) const;
  /// `update_values`: those of `matrix`, which the operator was made of, once more to their places
  /// from an array on its device. Throws `Error` (unsupported) for an entry from a definition.
  std::unique_ptr<Work> value_update(const AnyMatrix& matrix) const;
  /// That a value update moves: values read and written, and the map to their places.
  long long bytes_of_value_update() const;

  class Implementation;

 private:
  friend class AnySolver;
  explicit AnyOperator(std::shared_ptr<const Implementation> implementation)
      : implementation_(std::move(implementation)) {}

  const Implementation& implementation() const;

  std::shared_ptr<const Implementation> implementation_;
};

class HEDDLE_EXPORT AnySolver {
 public:
  /// `method`: a row of `method_table()`.
  AnySolver(const AnyOperator& matrix, const MethodInfo& method, PreconditionerKind preconditioner,
            const SolverOptions& options);
  ~AnySolver();

  /// As `KrylovSolver::solve`, on fields of the operator's precision.
  Report solve(const AnyField& b, AnyField& x);
  const std::vector<double>& history() const;

  class Implementation;

 private:
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace heddle
