// Finite element assembly as a product of a sparse matrix: each entry of the global matrix is the
// sum of a row of element contributions, in the order of the kernel that multiplies by the matrix
// (Wong, Kuhl, Darve 2015, section 4). No atomics, no colours: each sum has one owner and one
// order, so that any number of threads yields the same bits.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/detail/assembly_map.hpp"
#include "heddle/entries/entry_place.hpp"
#include "heddle/export.hpp"
#include "heddle/for_each_on.hpp"
#include "heddle/kernels/assembly_sums.hpp"
#include "heddle/operator.hpp"

namespace heddle {

namespace detail {

/// Element values held in an array, presented as a kernel of an assembly.
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

/// Element entries that their codes index directly in the array.
template <class E>
struct CountedElementEntries {
  const stored_scalar_t<E>* data;

  HEDDLE_INLINE E at(unsigned term) const { return PackedValues<E>{data}(term, 0); }
};
template <class E>
inline constexpr bool takes_codes<CountedElementEntries<E>> = true;
template <class E>
struct TermOf<CountedElementEntries<E>> {
  using type = E;
};

/// The text of sums over E by a user's kernel, made from the texts of both.
template <class E, class Kernel>
EntryText text_of_sums(const char* sums) {
  EntryText text = entry_text_of<E>::text(), kernel = entry_text_of<Kernel>::text();
  text.type = std::string("heddle::detail::") + sums + "<" + text.type + ", " + kernel.type + ">";
  kernel.headers.emplace_back("heddle/kernels/assembly_sums.hpp");
  for (const std::string& header : kernel.headers) {
    if (std::ranges::find(text.headers, header) == text.headers.end()) {
      text.headers.push_back(header);
    }
  }
  text.texts.merge(kernel.texts);
  return text;
}
template <class E, class Kernel>
  requires has_entry_text<E> && has_entry_text<Kernel>
struct entry_text_of<AssembleEntries<E, Kernel>> {
  static EntryText text() { return text_of_sums<E, Kernel>("AssembleEntries"); }
};
template <class E, class Kernel>
  requires has_entry_text<E> && has_entry_text<Kernel>
struct entry_text_of<AssembleVectors<E, Kernel>> {
  static EntryText text() { return text_of_sums<E, Kernel>("AssembleVectors"); }
};
template <class Sums>
  requires has_entry_text<Sums>
struct entry_text_of<TileSums<Sums>> {
  static EntryText text() {
    EntryText text = entry_text_of<Sums>::text();
    text.type = "heddle::detail::TileSums<" + text.type + ">";
    return text;
  }
};

}  // namespace detail

/// Sums the matrices of elements into an `Operator<E>`, where it stores its entries, and vectors of
/// elements into fields of its row basis. It is made once for a mesh; afterwards nothing is
/// allocated, except for values that a GPU takes from the host's memory. A handle: copies share the
/// lists and the matrix. Encoded entries have no sum, and do not compile.
template <class E>
class HEDDLE_EXPORT Assembly {
  static_assert(check_entry<E>());
  static_assert(std::is_same_v<E, arithmetic_t<E>>,
                "an assembly sums entries, and encoded ones have no sum");

 public:
  using scalar = stored_scalar_t<E>;
  using vector = result_entry_t<E>;
  using vector_scalar = typename vector::scalar;

  /// Makes the matrix, filled with zeros. Without a basis, the plan's is made. Throws like
  /// `element_pattern` and `Operator`.
  Assembly(const ElementsView& elements, const Plan& plan, const Device& device = Device::cpu(),
           const std::shared_ptr<const Basis>& basis = nullptr)
      : Assembly(element_pattern(elements), plan, device, basis) {}
  Assembly(const ElementPattern& pattern, const Plan& plan, const Device& device = Device::cpu(),
           const std::shared_ptr<const Basis>& basis = nullptr)
      : Assembly(pattern, zeros(pattern, plan, device, basis)) {}
  /// Assembles into a matrix that was built on the pattern, under any plan. Throws `Error`
  /// (size_mismatch) for one that was not.
  Assembly(const ElementPattern& pattern, Operator<E> matrix)
      : matrix_(std::move(matrix)),
        map_(std::make_shared<detail::AssemblyMap>(pattern, matrix_.pattern(), matrix_.device(),
                                                   sizeof(E))) {}

  /// Another assembly with the same lists and a zero matrix of its own: a mass matrix along with a
  /// stiffness matrix.
  Assembly another() const {
    Assembly made = *this;
    made.matrix_ = Operator<E>(matrix_, zeros(matrix_.pattern().entries));
    return made;
  }

  Operator<E>& matrix() { return matrix_; }
  const Operator<E>& matrix() const { return matrix_; }
  /// Bytes of the lists.
  long long memory() const { return map().bytes(); }
  /// Where element values lie under `ElementOrder::by_row`, in the matrix's memory: those of the
  /// pair (a, b) of element e begin at E::components (place[e n + a] + b) if all elements have n
  /// corners, otherwise at E::components (place[first[e] + a] + b).
  std::span<const unsigned> row_places() const { return map().row_places(); }

  /// K = the sum of the elements' matrices, `E::components` scalars for each pair of corners, in
  /// the memory of host or device. The matrix gets new values as in `Operator::update_values`.
  /// Throws `Error` (size_mismatch) for another number of scalars.
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

  /// The sum of the elements' vectors, each corner having as many scalars as a row of y = A x, into
  /// a field in the matrix's row basis and memory. Throws `Error` (size_mismatch) for another
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

  /// The passes that `assemble_with` and `assemble_vector_with` run.
  template <class Kernel>
  detail::AssembleEntries<E, Kernel> entry_pass(const Kernel& kernel) {
    const SlicedPattern& pattern = matrix_.pattern();
    return {pattern.slots,
            lists(),
            kernel,
            matrix_.values_in_basis().data(),
            pattern.C,
            slot_formula<E::components>(matrix_.plan().layout.inner, pattern.C, pattern.slots,
                                        sizeof(scalar))};
  }
  template <class Kernel>
  detail::AssembleVectors<E, Kernel> vector_pass(const Kernel& kernel,
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

/// K = the sum of the values that `kernel.entry(e, a, b)` returns for corners a and b of element e:
/// no element matrix is written to memory. It returns an E, or a type T with a neutral `T{}` and an
/// `add(sum, T)`; then `kernel.finish(sum, place)` makes an E of the sum. A kernel may also define
/// `finish` to hold rows and columns fixed. The kernel is copied to a GPU byte by byte. It runs
/// there from files that nvcc compiles, and from all others if HEDDLE_KERNEL names its header: it
/// is then compiled at the first call, with the same errors as in `for_each_on`.
template <class E, class Kernel>
void assemble_with(Assembly<E>& assembly, const Kernel& kernel) {
  const auto pass = assembly.entry_pass(kernel);
  using Sums = std::remove_const_t<decltype(pass)>;
  using Sum = typename Sums::Sum;
  const Stream stream = assembly.matrix().device().stream();
  const detail::AssemblyTiles& tiles = pass.lists.tiles;
#ifdef __CUDACC__
  if constexpr (detail::fits_in_tiles<Sum>) {
    if (stream.on_gpu() && tiles.count > 0) {
      detail::queue_tiles(tiles, pass, stream);
      return assembly.matrix().values_changed();
    }
  }
#else
  if constexpr (has_cuda && detail::fits_in_tiles<Sum> && has_entry_text<Sums>) {
    if (stream.on_gpu() && tiles.count > 0) {
      const detail::TileSums<Sums> work{tiles, pass};
      cuda::queue_tiles({detail::entry_text_of<detail::TileSums<Sums>>::text(), &work, sizeof work},
                        tiles.count, tiles.terms * sizeof(Sum), stream);
      return assembly.matrix().values_changed();
    }
  }
#endif
  for_each_on(stream, pass);
  assembly.matrix().values_changed();
}

/// The sum of the values that `kernel.vector(e, a)` returns for corner a of element e, into a field
/// like that of `Assembly::assemble_vector`. It returns a vector of the rows, or another type that
/// `kernel.finish(sum, row)` turns into one. On a GPU, the same holds as for `assemble_with`.
template <class E, class Kernel>
void assemble_vector_with(const Assembly<E>& assembly, const Kernel& kernel,
                          const FieldView<typename Assembly<E>::vector_scalar>& field) {
  for_each_on(assembly.matrix().device(), assembly.vector_pass(kernel, field));
}

}  // namespace

}  // namespace heddle
