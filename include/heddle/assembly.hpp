// Finite element assembly as a product of a sparse matrix: each entry of the global matrix is the
// sum of a row of element contributions, in the order of the kernel that multiplies by the matrix
// (Wong, Kuhl, Darve 2015, section 4). No atomics, no colours: a sum has one owner and one order,
// so that every number of threads yields the same bits.
#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/detail/assembly_map.hpp"
#include "heddle/export.hpp"
#include "heddle/for_each_on.hpp"
#include "heddle/operator.hpp"

namespace heddle {

/// Where an entry is that has been summed: its row and column as the matrix's bases number them,
/// and its slot.
struct HEDDLE_EXPORT EntryPlace {
  Offset slot;
  Index row;
  Index column;
};

namespace detail {

/// Numbers of elements that an array holds, as a kernel of an assembly.
template <class T, class S>
struct GivenElementValues {
  ElementNumbering numbering;
  const S* data;

  HEDDLE_INLINE T load(Offset place) const {
    T value;
    for (int k = 0; k < T::components; ++k) {
      value.component[k] = data[place + k * numbering.stride()];
    }
    return value;
  }
  HEDDLE_INLINE T entry(Offset e, int a, int b) const { return load(numbering.place(e, a, b)); }
  HEDDLE_INLINE T vector(Offset e, int a) const { return load(numbering.place(e, a)); }
};

/// Entries of elements whose codes count them in the array.
template <class E>
struct CountedElementEntries {
  const stored_scalar_t<E>* data;

  HEDDLE_INLINE E at(unsigned term) const { return PackedValues<E>{data}(term, 0); }
};
template <class Kernel>
inline constexpr bool takes_codes = false;
template <class E>
inline constexpr bool takes_codes<CountedElementEntries<E>> = true;

/// What a kernel returns for a pair of corners.
template <class Kernel>
struct TermOf {
  using type = std::remove_cvref_t<decltype(std::declval<const Kernel&>().entry(Offset(), 0, 0))>;
};
template <class E>
struct TermOf<CountedElementEntries<E>> {
  using type = E;
};

/// The pass over slots, and over the tiles of a GPU.
template <class E, class Kernel>
struct AssembleEntries {
  using Sum = typename TermOf<Kernel>::type;
  Offset count;
  AssemblyLists lists;
  Kernel kernel;
  EntryWriter<E> matrix;

  HEDDLE_INLINE Sum term(unsigned code) const {
    if constexpr (takes_codes<Kernel>) {
      return kernel.at(code);
    } else {
      return kernel.entry(lists.code.element_of_term(code), lists.code.first_of_term(code),
                          lists.code.last(code));
    }
  }
  HEDDLE_INLINE Sum term(const AssemblyTiles& tiles, const AssemblyTiles::Term& at) const {
    return term(tiles.code_of(at));
  }
  HEDDLE_INLINE void operator()(Offset slot) const {
    const unsigned first = lists.first_term[slot], end = lists.first_term[slot + 1];
    if (first == end) return;
    Sum sum{};
    for (unsigned at = first; at < end; ++at) sum = sum_of_two(sum, term(lists.term[at]));
    store(slot, sum);
  }
  HEDDLE_INLINE void store(Offset slot, const Sum& sum) const {
    if constexpr (requires { kernel.finish(sum, EntryPlace()); }) {
      matrix.store(slot, kernel.finish(sum, EntryPlace{slot, lists.row[slot], lists.column[slot]}));
    } else {
      matrix.store(slot, sum);
    }
  }
};

/// The pass over rows.
template <class V, class Kernel>
struct AssembleVectors {
  Offset count;
  AssemblyLists lists;
  Kernel kernel;
  typename V::scalar* data;
  Offset entry_stride, component_stride;

  HEDDLE_INLINE void store(Offset row, const V& value) const {
    for (int k = 0; k < V::components; ++k) {
      data[row * entry_stride + k * component_stride] = value.component[k];
    }
  }
  HEDDLE_INLINE void operator()(Offset row) const {
    using Sum = std::remove_cvref_t<decltype(kernel.vector(Offset(), 0))>;
    Sum sum{};
    for (unsigned at = lists.first_corner[row]; at < lists.first_corner[row + 1]; ++at) {
      const unsigned corner = lists.corner[at];
      sum = sum_of_two(
          sum, kernel.vector(lists.code.element_of_corner(corner), lists.code.last(corner)));
    }
    if constexpr (requires { kernel.finish(sum, Index()); }) {
      store(row, kernel.finish(sum, static_cast<Index>(row)));
    } else {
      store(row, sum);
    }
  }
};

}  // namespace detail

/// Sums the matrices of elements into an `Operator<E>`, where it stores its entries, and vectors of
/// elements into fields of its row basis. Made once for a mesh; afterwards nothing is allocated but
/// for values that a GPU takes from the host's memory. A handle: copies share the lists and the
/// matrix. Entries that are encoded have no sum, and do not compile.
template <class E>
class HEDDLE_EXPORT Assembly {
  static_assert(check_entry<E>());
  static_assert(std::is_same_v<E, arithmetic_t<E>>,
                "an assembly sums entries, and encoded ones have no sum");

 public:
  using scalar = stored_scalar_t<E>;
  using vector = result_entry_t<E>;
  using vector_scalar = typename vector::scalar;

  /// Makes the matrix, of zeros. Without a basis the plan's is made. Throws as `element_pattern`
  /// and `Operator`.
  Assembly(const ElementsView& elements, const Plan& plan, const Device& device = Device::cpu(),
           const std::shared_ptr<const Basis>& basis = nullptr)
      : Assembly(element_pattern(elements), plan, device, basis) {}
  Assembly(const ElementPattern& pattern, const Plan& plan, const Device& device = Device::cpu(),
           const std::shared_ptr<const Basis>& basis = nullptr)
      : Assembly(pattern, zeros(pattern, plan, device, basis)) {}
  /// Into a matrix that was built on the pattern, under any plan. Throws `Error` (size_mismatch)
  /// for one that was not.
  Assembly(const ElementPattern& pattern, Operator<E> matrix)
      : matrix_(std::move(matrix)),
        map_(std::make_shared<detail::AssemblyMap>(pattern, matrix_.pattern(), matrix_.device(),
                                                   sizeof(E))) {}

  /// By the same lists into a matrix of its own, of zeros: a mass matrix beside a stiffness.
  Assembly another() const {
    Assembly made = *this;
    made.matrix_ = Operator<E>(matrix_, zeros(matrix_.pattern().entries));
    return made;
  }

  Operator<E>& matrix() { return matrix_; }
  const Operator<E>& matrix() const { return matrix_; }
  /// Bytes of the lists.
  long long memory() const { return map().bytes(); }
  /// Where element values are under `ElementOrder::by_row`, in the matrix's memory: those of the
  /// pair (a, b) of element e begin at E::components (place[e n + a] + b) where all elements have n
  /// corners, and else at E::components (place[first[e] + a] + b).
  std::span<const unsigned> row_places() const { return map().row_places(); }

  /// K = the sum of the elements' matrices, `E::components` scalars for each pair of corners, in
  /// the memory of host or device. New values for the matrix as `Operator::update_values`. Throws
  /// `Error` (size_mismatch) for another number of scalars.
  void assemble(std::span<const scalar> element_values,
                ElementOrder order = ElementOrder::by_element) {
    detail::check_element_values(map().entry_numbers(order), E::components, element_values.size());
    const detail::ElementNumbering numbering = map().numbering(order, E::components);
    if (stream().on_gpu()) {
      if constexpr (has_kernels<scalar>) {
        const auto rule = rule_for(matrix_.plan().layout.inner, matrix_.pattern());
        detail::sum_entries_on_gpu<scalar>(lists(), numbering, element_values, rule,
                                           matrix_.values_in_basis().data(), stream());
      }
    } else if (numbering.is_by_code(lists().code)) {
      run_on_cpu(entry_pass(detail::CountedElementEntries<E>{element_values.data()}));
    } else {
      using Given = detail::GivenElementValues<E, scalar>;
      run_on_cpu(entry_pass(Given{numbering, element_values.data()}));
    }
    matrix_.values_changed();
  }

  /// The sum of the elements' vectors, as many scalars for each corner as a row of y = A x has,
  /// into a field in the matrix's row basis and memory. Throws `Error` (size_mismatch) for another
  /// number of scalars or another field.
  void assemble_vector(std::span<const vector_scalar> element_vectors,
                       const FieldView<vector_scalar>& field,
                       ElementOrder order = ElementOrder::by_element) const {
    detail::check_element_values(map().corner_numbers(order), vector::components,
                                 element_vectors.size());
    const detail::ElementNumbering numbering = map().numbering(order, vector::components);
    using Given = detail::GivenElementValues<vector, vector_scalar>;
    const auto pass = vector_pass(Given{numbering, element_vectors.data()}, field);
    if (!stream().on_gpu()) return run_on_cpu(pass);
    if constexpr (has_kernels<vector_scalar>) {
      detail::sum_vectors_on_gpu<vector_scalar>(lists(), numbering, element_vectors, field,
                                                stream());
    }
  }

  /// What `assemble_with` and `assemble_vector_with` run.
  template <class Kernel>
  detail::AssembleEntries<E, Kernel> entry_pass(const Kernel& kernel) {
    return {matrix_.pattern().slots, lists(), kernel, matrix_.entry_writer()};
  }
  template <class Kernel>
  detail::AssembleVectors<vector, Kernel> vector_pass(const Kernel& kernel,
                                                      const FieldView<vector_scalar>& field) const {
    field.check();
    detail::check_assembled_field(matrix_.pattern(), field.data, field.size, field.components,
                                  vector::components, field.basis, stream());
    return {field.size, lists(), kernel, field.data, field.entry_stride, field.component_stride};
  }

 private:
  static Array<scalar> zeros(Offset entries) {
    return Array<scalar>(static_cast<std::size_t>(entries) * E::components);
  }
  static Operator<E> zeros(const ElementPattern& pattern, const Plan& plan, const Device& device,
                           const std::shared_ptr<const Basis>& basis) {
    const Array<scalar> values = zeros(pattern.entries());
    const PatternView view = pattern.view();
    return Operator<E>(CsrView<E>{view.rows, view.columns, view.offsets, view.column, values.data(),
                                  row_major, device},
                       plan, basis);
  }

  template <class S>
  static constexpr bool has_kernels = std::is_same_v<S, float> || std::is_same_v<S, double>;

  static SlotRule rule_for(InnerLayout inner, const SlicedPattern& pattern) {
    return slot_rule(inner, E::components, pattern.C, pattern.slots, sizeof(scalar));
  }
  template <class P>
  void run_on_cpu(const P& pass) const {
    parallel_for(team_size(stream(), map().terms()), pass.count, pass);
  }
  Stream stream() const { return matrix_.device().stream(); }
  detail::AssemblyLists lists() const { return map().lists(matrix_.pattern()); }
  const detail::AssemblyMap& map() const {
    if (!map_) throw Error(ErrorKind::usage, "this assembly was moved from");
    return *map_;
  }

  Operator<E> matrix_;
  std::shared_ptr<const detail::AssemblyMap> map_;
};

#ifdef __CUDACC__
inline namespace with_kernels {
#else
inline namespace without_kernels {
#endif

/// K = the sum of what `kernel.entry(e, a, b)` returns for corners a and b of element e: no matrix
/// of an element is written to memory. It returns an E, or what has a neutral `T{}` and an
/// `add(sum, T)`; then `kernel.finish(sum, place)` makes an E of the sum, as a kernel may do also
/// to hold rows and columns fixed. The kernel is copied to a GPU byte by byte, and runs there from
/// files that nvcc compiles (`for_each_on`).
template <class E, class Kernel>
void assemble_with(Assembly<E>& assembly, const Kernel& kernel) {
  const auto pass = assembly.entry_pass(kernel);
  const Stream stream = assembly.matrix().device().stream();
#ifdef __CUDACC__
  using Sum = typename decltype(assembly.entry_pass(kernel))::Sum;
  if constexpr (detail::fits_in_tiles<Sum>) {
    if (stream.on_gpu() && pass.lists.tiles.count > 0) {
      detail::queue_tiles(pass.lists.tiles, pass, stream);
      return assembly.matrix().values_changed();
    }
  }
#endif
  for_each_on(stream, pass);
  assembly.matrix().values_changed();
}

/// The sum of what `kernel.vector(e, a)` returns for corner a of element e, into a field as
/// `Assembly::assemble_vector` takes it. It returns a vector of the rows, or something else that
/// `kernel.finish(sum, row)` makes one of.
template <class E, class Kernel>
void assemble_vector_with(const Assembly<E>& assembly, const Kernel& kernel,
                          const FieldView<typename Assembly<E>::vector_scalar>& field) {
  for_each_on(assembly.matrix().device(), assembly.vector_pass(kernel, field));
}

}  // namespace

}  // namespace heddle
