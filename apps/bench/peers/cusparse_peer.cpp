// cuSPARSE's products.
#include <exception>
#include <type_traits>

#include "absent_peer.hpp"

#ifdef HEDDLE_BENCH_CUDA
#include "cusparse_methods_cuda.hpp"
#include "cusparse_transposed_cuda.hpp"
#include "hamilton_product_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "nvidia_libraries_cuda.hpp"
#endif

namespace heddle::bench {

#ifdef HEDDLE_BENCH_CUDA

namespace {

/// Each product has its own y, so that `result` stays valid whatever ran after it.
template <class S>
struct Prepared {
  std::unique_ptr<CuSparseProduct<S>> product;
  std::shared_ptr<const Array<S>> x;
  Array<S> y;
  BlockForm form;
};

template <class S>
PeerProduct prepare(const CuSparseMethod<S>& method, std::shared_ptr<const Array<S>> x,
                    std::size_t y_scalars, const Device& device) {
  auto prepared = std::make_shared<Prepared<S>>(
      Prepared<S>{method.make(), std::move(x), Array<S>(y_scalars, device), method.form});
  PeerProduct product;
  product.method = method.name;
  product.memory_bytes = prepared->product->memory_bytes();
  product.queue = [prepared](const Stream& stream) {
    prepared->product->queue(prepared->x->data(), prepared->y.data(), stream);
  };
  product.result = [prepared] { return without_signs(prepared->y.to_host(), prepared->form); };
  return product;
}

/// A product that throws: where cuSPARSE refuses one format, the others are still measured.
PeerProduct refused(const std::string& method, const std::exception_ptr& why) {
  PeerProduct product;
  product.method = method;
  product.queue = [why](const Stream&) { std::rethrow_exception(why); };
  product.result = [why]() -> std::vector<double> { std::rethrow_exception(why); };
  return product;
}

template <class E>
std::vector<PeerProduct> all_products(const CsrMatrix<E>& matrix, const std::vector<double>& x,
                                      const Device& device) {
  using S = stored_scalar_t<E>;
  const auto y_scalars = static_cast<std::size_t>(matrix.rows()) * tile_rows<E>;
  std::vector<std::pair<std::vector<int>, std::shared_ptr<const Array<S>>>> x_by_signs;
  const auto x_of = [&](const BlockForm& form) {
    for (const auto& [signs, there] : x_by_signs) {
      if (signs == form.signs) return there;
    }
    const std::vector<S> scalars = with_signs<S>(x, form);
    x_by_signs.emplace_back(form.signs,
                            std::make_shared<const Array<S>>(std::span<const S>(scalars), device));
    return x_by_signs.back().second;
  };
  std::vector<PeerProduct> products;
  for (const CuSparseMethod<S>& method : cusparse_methods(matrix, device)) {
    try {
      products.push_back(prepare(method, x_of(method.form), y_scalars, device));
    } catch (const std::exception&) {
      products.push_back(refused(method.name, std::current_exception()));
    }
  }
  if constexpr (std::is_same_v<E, quaternion<S>>) {
    try {
      for (PeerProduct& product : hamilton_products(matrix, x, device)) {
        products.push_back(std::move(product));
      }
    } catch (const std::exception&) {
      products.push_back(refused("four real matrices", std::current_exception()));
    }
  }
  return products;
}

class CuSparsePeer final : public Peer {
 public:
  PeerPresence presence() const override {
    return {"cuSPARSE", cusparse().version, "opened as " + cusparse().path, true};
  }
  std::vector<PeerProduct> products(const Problem& problem, const Device& device) override {
    if (!device.on_gpu() || problem.matrix.is_defined()) return {};
    return problem.matrix.visit(
        [&](const auto& matrix) { return all_products(matrix, problem.x, device); });
  }
  std::vector<PeerProduct> products_of_either(const Problem& problem, bool transposes,
                                              const std::vector<double>& x,
                                              const Device& device) override {
    return cusparse_products_of_either(problem, transposes, x, device);
  }
  std::vector<PeerSum> sums(const Problem& A, const Problem& B, bool transposes,
                            const Device& device) override {
    return cusparse_sums(A, B, transposes, device);
  }
  std::vector<PeerSolver> solvers(const Problem&, const MethodInfo&, PreconditionerKind,
                                  const Device&) override {
    return {};
  }
};

}  // namespace

std::unique_ptr<Peer> cusparse_peer() {
  try {
    cusparse();
  } catch (const Error& error) {
    return std::make_unique<AbsentPeer>("cuSPARSE", error.what());
  }
  return std::make_unique<CuSparsePeer>();
}

#else

std::unique_ptr<Peer> cusparse_peer() {
  return std::make_unique<AbsentPeer>("cuSPARSE", "this heddle was built without CUDA");
}

#endif

}  // namespace heddle::bench
