// What operators over sliced storage and their Jacobi do on a GPU, whether a type or a definition
// states the entry.
#pragma once

#include <utility>

#include "heddle/detail/diagonal_cuda.hpp"
#include "heddle/detail/product_cuda.hpp"
#include "heddle/field.hpp"

namespace heddle::detail {

/// One product with its sum waited for.
template <class S>
sum_t<S> sum_of(const cuda::Product& product, cuda::Product::Call call, Reduction<S>& reduction,
                const Stream& stream) {
  call.sums = reduction.space(product.partials());
  product.launch(call, stream);
  return reduction.finish(1)[0];
}

/// Sizes and bases are the operator's to check; this is what a GPU asks for beside them.
template <class S>
void check_on_gpu(const cuda::Product& product, const FieldView<S>& field, const char* name) {
  if (field.size == 0) return;
  product.check_operand(
      field.data, product.plan().vector == VectorLayout::aos ? field.is_aos() : field.is_soa(),
      name);
}

/// Member by member: nvcc takes no designated initializer in a template of the host's.
template <class S>
cuda::Product::Call call_on(const FieldView<const S>& x, const FieldView<S>& y) {
  cuda::Product::Call call;
  call.x = x.data;
  call.y = y.data;
  return call;
}

// As the functions of `LinearOperator`.

template <class S>
void apply_on_gpu(const cuda::Product& product, S alpha, const FieldView<const S>& x, S beta,
                  const FieldView<S>& y, const Stream& stream) {
  check_on_gpu(product, x, "x");
  check_on_gpu(product, y, "y");
  auto call = call_on(x, y);
  call.alpha = static_cast<double>(alpha);
  call.beta = static_cast<double>(beta);
  product.launch(call, stream);
}

template <class S>
sum_t<S> apply_dot_on_gpu(const cuda::Product& product, const FieldView<const S>& x,
                          const FieldView<S>& y, Reduction<S>& reduction, const Stream& stream) {
  check_on_gpu(product, x, "x");
  check_on_gpu(product, y, "y");
  auto call = call_on(x, y);
  call.epilogue = device::store_and_dot;
  call.with = x.data;
  return sum_of<S>(product, call, reduction, stream);
}

template <class S>
sum_t<S> residual_on_gpu(const cuda::Product& product, const FieldView<const S>& b,
                         const FieldView<const S>& x, const FieldView<S>& r,
                         Reduction<S>& reduction, const Stream& stream) {
  check_on_gpu(product, b, "b");
  check_on_gpu(product, x, "x");
  check_on_gpu(product, r, "r");
  auto call = call_on(x, r);
  call.epilogue = device::store_residual;
  call.with = b.data;
  return sum_of<S>(product, call, reduction, stream);
}

}  // namespace heddle::detail
