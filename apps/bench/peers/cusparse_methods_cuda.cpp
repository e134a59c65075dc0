#include "cusparse_methods_cuda.hpp"

#include <limits>

#include "cusparse_generic_product_cuda.hpp"
#include "heddle/error.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle::bench {

namespace {

constexpr auto index_type = CUSPARSE_INDEX_32I;
constexpr auto from_zero = CUSPARSE_INDEX_BASE_ZERO;

template <class T>
Array<T> on_device(const std::vector<T>& values, const Device& device) {
  return Array<T>(std::span<const T>(values), device);
}

/// Offsets, columns and numbers of a format, on the GPU.
template <class S>
struct Arrays {
  Array<int> offsets;
  Array<int> column;
  Array<S> values;
};

/// The matrix as blocks on the GPU, converted when first asked for.
template <class S>
class BlocksOnGpu {
 public:
  /// The pattern of the entries, common to all forms.
  using Pattern = std::pair<Array<int>, Array<int>>;

  BlocksOnGpu(const EntriesView<S>& matrix, const BlockForm& form, const Device& device,
              std::shared_ptr<std::shared_ptr<const Pattern>> pattern)
      : matrix_(matrix), form_(form), device_(device), pattern_(std::move(pattern)) {}

  std::shared_ptr<const Pattern> pattern() const {
    if (!*pattern_) {
      const PatternView& p = matrix_.pattern;
      const auto entries = static_cast<std::size_t>(p.entries());
      *pattern_ = std::make_shared<const Pattern>(
          on_device(narrow_offsets(p), device_),
          Array<int>(std::span<const int>(p.column, entries), device_));
    }
    return *pattern_;
  }
  std::shared_ptr<const Array<S>> values(bool by_columns) {
    auto& made = values_[by_columns ? 1 : 0];
    if (!made) {
      made = std::make_shared<const Array<S>>(
          on_device(block_values(matrix_, form_, by_columns), device_));
    }
    return made;
  }
  std::shared_ptr<const Arrays<S>> rows_of_numbers() {
    if (!rows_) {
      const NumberRows<S> rows = number_rows(matrix_, form_);
      rows_ = std::make_shared<const Arrays<S>>(Arrays<S>{on_device(rows.offsets, device_),
                                                          on_device(rows.column, device_),
                                                          on_device(rows.values, device_)});
    }
    return rows_;
  }
  Arrays<S> slices(int slice) const {
    const SlicedEll<S> ell = sliced_ell(number_rows(matrix_, form_), slice);
    return {on_device(ell.offsets, device_), on_device(ell.column, device_),
            on_device(ell.values, device_)};
  }

  const EntriesView<S>& matrix() const { return matrix_; }
  const BlockForm& form() const { return form_; }
  const Device& device() const { return device_; }

 private:
  EntriesView<S> matrix_;
  BlockForm form_;
  Device device_;
  std::shared_ptr<std::shared_ptr<const Pattern>> pattern_;
  std::shared_ptr<const Array<S>> values_[2];
  std::shared_ptr<const Arrays<S>> rows_;
};

/// Product by the legacy `cusparse?bsrmv`; T is cuSPARSE's number type.
template <class S, class T>
class LegacyProduct final : public CuSparseProduct<S> {
 public:
  LegacyProduct(Bsrmv<T>* function, std::shared_ptr<const CuSparseHandle> handle,
                BlocksOnGpu<S>& blocks, bool by_columns)
      : function_(function),
        handle_(std::move(handle)),
        pattern_(blocks.pattern()),
        values_(blocks.values(by_columns)),
        direction_(by_columns ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW),
        rows_(blocks.matrix().pattern.rows),
        columns_(blocks.matrix().pattern.columns),
        size_(blocks.form().size) {}

  void queue(const S* x, S* y, const Stream& stream) override {
    const cuda::OnGpu here(stream);
    check(function_(handle_->on(stream), direction_, not_transposed, rows_, columns_,
                    static_cast<int>(pattern_->second.size()), numbers(one<S>), handle_->general(),
                    numbers(values_->data()), pattern_->first.data(), pattern_->second.data(),
                    size_, numbers(x), numbers(zero<S>), reinterpret_cast<T*>(y)),
          "cusparse bsrmv");
  }
  long long memory_bytes() const override {
    return bytes_of(pattern_->first) + bytes_of(pattern_->second) + bytes_of(*values_);
  }

 private:
  static const T* numbers(const S* scalars) { return reinterpret_cast<const T*>(scalars); }

  Bsrmv<T>* function_;
  std::shared_ptr<const CuSparseHandle> handle_;
  std::shared_ptr<const typename BlocksOnGpu<S>::Pattern> pattern_;
  std::shared_ptr<const Array<S>> values_;
  cusparseDirection_t direction_;
  int rows_;
  int columns_;
  int size_;
};

// Descriptions only read, but the functions that make them take pointers to mutable data.
void* writable(const void* data) { return const_cast<void*>(data); }

/// Lists the methods of one form.
template <class S>
class Methods {
 public:
  explicit Methods(const Device& device)
      : device_(device), handle_(std::make_shared<const CuSparseHandle>(device)) {}

  using List = std::vector<CuSparseMethod<S>>;
  using Blocks = std::shared_ptr<BlocksOnGpu<S>>;

  Blocks blocks(const EntriesView<S>& matrix, const BlockForm& form) {
    return std::make_shared<BlocksOnGpu<S>>(matrix, form, device_, pattern_);
  }

  /// Rows of numbers, with and without preprocessing.
  void add_csr(List& list, const Blocks& blocks) const {
    const auto numbers = count_numbers(blocks->matrix().pattern, blocks->form());
    const bool expanded = blocks->form().size > 1;
    const std::string format = expanded ? "CSR of the expansion" : "CSR";
    const long long bytes =
        numbers * static_cast<long long>(sizeof(S) * blocks->form().parts + sizeof(int));
    if (expanded &&
        (numbers > std::numeric_limits<int>::max() || bytes > device_.available_memory() / 3)) {
      return;
    }
    for (const auto& [algorithm, name] :
         {std::pair(CUSPARSE_SPMV_CSR_ALG1, " ALG1"), std::pair(CUSPARSE_SPMV_CSR_ALG2, " ALG2")}) {
      for (const bool preprocess : {false, true}) {
        if (preprocess && cusparse().spmv_preprocess == nullptr) continue;
        list.push_back({format + name + (preprocess ? " preprocessed" : ""), blocks->form(),
                        [=, handle = handle_, algorithm = algorithm] {
                          return make_csr(handle, *blocks, algorithm, preprocess);
                        }});
      }
    }
  }

  void add_sliced_ell(List& list, const Blocks& blocks) const {
    if (cusparse().create_sliced_ell == nullptr) return;
    for (const int slice : {2, 8, 16, 32, 64}) {
      list.push_back({"Sliced ELL " + std::to_string(slice), blocks->form(),
                      [=, handle = handle_] { return make_sliced_ell(handle, *blocks, slice); }});
    }
  }

  /// Legacy and generic, in both orders of a block's numbers.
  void add_bsr(List& list, const Blocks& blocks) const {
    for (const bool by_columns : {false, true}) {
      const std::string name =
          "BSR " + blocks->form().name() + (by_columns ? " by columns" : " by rows");
      if (blocks->form().parts == 1) {
        if constexpr (std::is_same_v<S, float>) {
          add_legacy(list, name, blocks, by_columns, cusparse().bsrmv_float);
        } else {
          add_legacy(list, name, blocks, by_columns, cusparse().bsrmv_double);
        }
      } else {
        if constexpr (std::is_same_v<S, float>) {
          add_legacy(list, name, blocks, by_columns, cusparse().bsrmv_complex_float);
        } else {
          add_legacy(list, name, blocks, by_columns, cusparse().bsrmv_complex_double);
        }
      }
      if (cusparse().create_bsr == nullptr) continue;
      list.push_back({name + ", SpMV", blocks->form(),
                      [=, handle = handle_] { return make_bsr(handle, *blocks, by_columns); }});
    }
  }

 private:
  using Product = std::unique_ptr<CuSparseProduct<S>>;
  using Handle = std::shared_ptr<const CuSparseHandle>;

  template <class T>
  void add_legacy(List& list, const std::string& name, const Blocks& blocks, bool by_columns,
                  Bsrmv<T>* function) const {
    if (function == nullptr) return;
    list.push_back({name + ", bsrmv", blocks->form(), [=, handle = handle_]() -> Product {
                      return std::make_unique<LegacyProduct<S, T>>(function, handle, *blocks,
                                                                   by_columns);
                    }});
  }

  static Product make_csr(const Handle& handle, BlocksOnGpu<S>& blocks, cusparseSpMVAlg_t algorithm,
                          bool preprocess) {
    const auto arrays = blocks.rows_of_numbers();
    const int parts = blocks.form().parts;
    const long long rows = static_cast<long long>(arrays->offsets.size()) - 1;
    const long long columns =
        static_cast<long long>(blocks.matrix().pattern.columns) * blocks.form().size;
    const long long bytes =
        bytes_of(arrays->offsets) + bytes_of(arrays->column) + bytes_of(arrays->values);
    return std::make_unique<GenericProduct<S>>(
        handle, arrays, bytes, rows, columns, parts, algorithm, preprocess, blocks.device(),
        [&](Description& description) {
          check(cusparse().create_csr(
                    &description.matrix, rows, columns,
                    static_cast<long long>(arrays->column.size()), writable(arrays->offsets.data()),
                    writable(arrays->column.data()), writable(arrays->values.data()), index_type,
                    index_type, from_zero, number_type<S>(parts)),
                "cusparseCreateCsr");
        });
  }

  static Product make_sliced_ell(const Handle& handle, const BlocksOnGpu<S>& blocks, int slice) {
    const auto arrays = std::make_shared<const Arrays<S>>(blocks.slices(slice));
    const int parts = blocks.form().parts;
    const long long size = blocks.form().size;
    const PatternView& pattern = blocks.matrix().pattern;
    const long long bytes =
        bytes_of(arrays->offsets) + bytes_of(arrays->column) + bytes_of(arrays->values);
    return std::make_unique<GenericProduct<S>>(
        handle, arrays, bytes, pattern.rows * size, pattern.columns * size, parts,
        CUSPARSE_SPMV_SELL_ALG1, false, blocks.device(), [&](Description& description) {
          check(cusparse().create_sliced_ell(
                    &description.matrix, pattern.rows * size, pattern.columns * size,
                    count_numbers(pattern, blocks.form()),
                    static_cast<long long>(arrays->column.size()), slice,
                    writable(arrays->offsets.data()), writable(arrays->column.data()),
                    writable(arrays->values.data()), index_type, index_type, from_zero,
                    number_type<S>(parts)),
                "cusparseCreateSlicedEll");
        });
  }

  static Product make_bsr(const Handle& handle, BlocksOnGpu<S>& blocks, bool by_columns) {
    struct Kept {
      std::shared_ptr<const typename BlocksOnGpu<S>::Pattern> pattern;
      std::shared_ptr<const Array<S>> values;
    };
    const auto kept =
        std::make_shared<const Kept>(Kept{blocks.pattern(), blocks.values(by_columns)});
    const auto& [offsets, column] = *kept->pattern;
    const BlockForm& form = blocks.form();
    const PatternView& pattern = blocks.matrix().pattern;
    const long long size = form.size;
    return std::make_unique<GenericProduct<S>>(
        handle, kept, bytes_of(offsets) + bytes_of(column) + bytes_of(*kept->values),
        pattern.rows * size, pattern.columns * size, form.parts, CUSPARSE_SPMV_BSR_ALG1, false,
        blocks.device(), [&](Description& description) {
          check(
              cusparse().create_bsr(
                  &description.matrix, pattern.rows, pattern.columns, pattern.entries(), size, size,
                  writable(kept->pattern->first.data()), writable(kept->pattern->second.data()),
                  writable(kept->values->data()), index_type, index_type, from_zero,
                  number_type<S>(form.parts), by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
              "cusparseCreateBsr");
        });
  }

  Device device_;
  Handle handle_;
  std::shared_ptr<std::shared_ptr<const typename BlocksOnGpu<S>::Pattern>> pattern_ =
      std::make_shared<std::shared_ptr<const typename BlocksOnGpu<S>::Pattern>>();
};

}  // namespace

template <class E>
std::vector<CuSparseMethod<stored_scalar_t<E>>> cusparse_methods(const CsrMatrix<E>& matrix,
                                                                 const Device& device) {
  using S = stored_scalar_t<E>;
  const EntriesView<S> entries{matrix.view().pattern(), matrix.values().data(), E::components};
  Methods<S> methods(device);
  typename Methods<S>::List list;
  const BlockForm real = real_form<E>();
  if constexpr (std::is_same_v<E, quaternion<S>>) {
    methods.add_bsr(list, methods.blocks(entries, complex_form_of_quaternions()));
  } else if constexpr (std::is_same_v<E, dual_quaternion<S>>) {
    methods.add_bsr(list, methods.blocks(entries, complex_form_of_dual_quaternions()));
  } else if constexpr (has_complex_representation<E>) {
    const auto blocks = methods.blocks(entries, complex_form<E>());
    if (blocks->form().size > 1) methods.add_bsr(list, blocks);
    methods.add_csr(list, blocks);
    if (blocks->form().size == 1) methods.add_sliced_ell(list, blocks);
    if (blocks->form().size == 1) return list;
  }
  const auto blocks = methods.blocks(entries, real);
  if (real.size > 1) methods.add_bsr(list, blocks);
  methods.add_csr(list, blocks);
  if (real.size == 1) methods.add_sliced_ell(list, blocks);
  return list;
}

#define HEDDLE_INSTANTIATE(E)                                                   \
  template std::vector<CuSparseMethod<stored_scalar_t<E>>> cusparse_methods<E>( \
      const CsrMatrix<E>&, const Device&);
HEDDLE_FOR_EACH_ENTRY(HEDDLE_INSTANTIATE, float)
HEDDLE_FOR_EACH_ENTRY(HEDDLE_INSTANTIATE, double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::bench
