// The fields that a solver works in, and the account of its memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/detail/product_cuda.hpp"
#include "matrix/slice_shapes.hpp"
#include "solver_inputs.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

/// Advice on whether the matrix as CSR would leave at least `lacking` bytes more.
inline std::string advice_on_layout(const cuda::Product* product, long long lacking) {
  if (product == nullptr) return "";
  const SlicedPattern& A = product->pattern();
  const int entry_bytes = product->shape().components * product->shape().stored_bytes;
  const MemoryUse csr =
      account_of(A.rows, A.entries, Plan{}, 1, A.rows, A.entries, entry_bytes, 0, false, true);
  const long long saved = A.memory.total() - csr.total();
  if (saved < lacking) return "; no other layout of the matrix leaves enough";
  return "; the plan CSR leaves enough: the matrix then takes " + readable_bytes(csr.total()) +
         ", not " + readable_bytes(A.memory.total());
}

/// All fields are in the operator's basis, layout and memory.
template <class S>
class SolverFields {
 public:
  /// Systems that are solved side by side.
  static constexpr int max_places = Reduction<S>::width;
  /// The fields of one of them.
  struct SystemFields {
    FieldView<S> residual;
    FieldView<S> kept;      // an earlier iterate, as good as the recurrence says
    FieldView<S> verified;  // the iterate of the least true residual so far: at first the guess
    LoopVectors<S> vectors;
    std::optional<FieldView<S>> own_b, own_x;
  };

  /// Makes no place yet.
  explicit SolverFields(const SolverInputs<S>& inputs)
      : inputs_(inputs),
        max_basis_(max_basis(inputs.options.restart)),
        basis_(inputs.matrix.row_basis()) {}

  /// Makes the places that `count` of them lack.
  void make_places(std::size_t count) {
    while (places_.size() < count) {
      SystemFields place{make_field(), make_field(), make_field(), {}, {}, {}};
      for (int k = 2; k < inputs_.method.program.vectors; ++k) {
        place.vectors.work.push_back(make_field());
      }
      place.vectors.basis = make_basis();
      places_.push_back(std::move(place));
    }
  }
  /// The allocations of `count` places.
  Workspace workspace(std::size_t count) const {
    // Residual, kept iterate and verified iterate. A solve also needs b and x if it cannot use the
    // caller's.
    constexpr int own_fields = 3;
    const long long of_field = std::max(1LL, bytes_of({.fields = 1}));
    const auto of_basis = static_cast<int>((basis_bytes() + of_field - 1) / of_field);
    return {static_cast<int>(count) * (own_fields + inputs_.method.program.vectors - 2 + of_basis),
            0};
  }
  std::size_t places() const { return places_.size(); }
  SystemFields& operator[](std::size_t place) { return places_[place]; }
  /// That of a single system, which a solver always has.
  SystemFields& first() { return places_.front(); }
  const SystemFields& first() const { return places_.front(); }

  /// The field `place.own_b` or `place.own_x`; made if it does not exist yet.
  FieldView<S>& own(std::optional<FieldView<S>>& field) {
    if (!field) field = make_field();
    return *field;
  }
  /// A vector of the method that holds nothing between two of its iterations; without data if there
  /// is none.
  FieldView<S> spare(const SystemFields& place) const {
    const int image = inputs_.method.info.image;
    return image < 0 ? FieldView<S>{} : place.vectors.work[static_cast<std::size_t>(image - 2)];
  }
  bool fits_in_place(const FieldView<const S>& field) const {
    return detail::fits_in_place<S>(field, inputs_.matrix.vector_layout(), basis_, inputs_.stream);
  }

  /// Vectors of the method's basis, at most the dimension of the space; 0 if it keeps none.
  int max_basis() const { return max_basis_; }
  /// The same for another restart. Collective.
  int max_basis(int restart) const {
    const MethodProgram& program = inputs_.method.program;
    if (program.kept_numbers == nullptr) return 0;
    const Offset dimensions = inputs_.all_scalars() / ring_size(program.ring);
    constexpr int countable = 1 << 29;  // the vectors of two such bases can be counted in an int
    return static_cast<int>(std::clamp<Offset>(dimensions, 1, std::clamp(restart, 1, countable)));
  }
  bool has_narrow_basis() const {
    return max_basis_ > 0 && inputs_.options.basis_precision == StoredScalar::single &&
           std::is_same_v<S, double>;
  }

  /// Throws `Error` (memory) unless the device has room for the workspace.
  void check_memory(const Workspace& workspace) const {
    const long long field = bytes_of({.fields = 1}), needed = bytes_of(workspace);
    const long long available = available_memory_for(needed, inputs_.device);
    if (needed <= available) return;
    throw Error(ErrorKind::memory,
                "the solver needs " + std::to_string(workspace.fields) + " fields of " +
                    readable_bytes(field) + " and " + readable_bytes(workspace.bytes) +
                    " for its loop's sums and scalars besides the matrix, available are " +
                    readable_bytes(available) +
                    advice_on_layout(inputs_.matrix.product_on_gpu(), needed - available));
  }
  /// Enters a workspace into the account, or takes it out.
  void add(const Workspace& workspace) { memory_ += bytes_of(workspace); }
  void remove(const Workspace& workspace) { memory_ -= bytes_of(workspace); }
  long long memory() const { return memory_; }

 private:
  long long bytes_of(const Workspace& workspace) const {
    return workspace.fields * bytes_of_field(inputs_.matrix) + workspace.bytes;
  }
  long long basis_bytes() const {
    return Offset(inputs_.matrix.rows()) * inputs_.matrix.row_components() * max_basis_ *
           inputs_.method.program.bases() *
           static_cast<long long>(has_narrow_basis() ? sizeof(float) : sizeof(S));
  }
  FieldView<S> make_field() {
    const LinearOperator<S>& matrix = inputs_.matrix;
    const auto scalars =
        static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.row_components());
    storage_.emplace_back(scalars, inputs_.device);
    return {storage_.back().data(), matrix.rows(), matrix.row_components(), matrix.vector_layout(),
            basis_};
  }
  BasisStorage make_basis() {
    BasisStorage storage;
    if (max_basis_ == 0) return storage;
    storage.most = max_basis_;
    storage.stride =
        storage.stride_of(Offset(inputs_.matrix.rows()) * inputs_.matrix.row_components());
    storage.scalar_bytes = static_cast<int>(has_narrow_basis() ? sizeof(float) : sizeof(S));
    const auto scalars = static_cast<std::size_t>(storage.stride * storage.most) *
                         static_cast<std::size_t>(inputs_.method.program.bases());
    if (has_narrow_basis()) {
      storage.data = narrow_storage_.emplace_back(scalars, inputs_.device).data();
    } else {
      storage.data = storage_.emplace_back(scalars, inputs_.device).data();
    }
    return storage;
  }

  const SolverInputs<S>& inputs_;
  const int max_basis_;
  const std::shared_ptr<const Basis> basis_;
  std::vector<Array<S>> storage_;
  std::vector<Array<float>> narrow_storage_;  // storage of bases
  std::vector<SystemFields> places_;
  long long memory_ = 0;
};

}  // namespace heddle::detail
