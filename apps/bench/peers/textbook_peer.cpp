// Krylov loops made of cuSPARSE and cuBLAS calls.
#include "absent_peer.hpp"

#ifdef HEDDLE_BENCH_CUDA
#include <limits>
#include <map>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/error.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/tuning/measure.hpp"
#include "nvidia_libraries_cuda.hpp"
#include "textbook_loops_cuda.hpp"
#endif

namespace heddle::bench {

#ifdef HEDDLE_BENCH_CUDA

namespace {

/// The inverse diagonal as a matrix with one entry a row. Throws `Error` (singular).
template <class E>
CsrMatrix<E> inverse_diagonal(const CsrMatrix<E>& matrix) {
  Array<Offset> offsets(static_cast<std::size_t>(matrix.rows()) + 1);
  Array<Index> column(static_cast<std::size_t>(matrix.rows()));
  Array<stored_scalar_t<E>> values(column.size() * E::components);
  for (Index row = 0; row < matrix.rows(); ++row) {
    const auto r = static_cast<std::size_t>(row);
    Offset at = matrix.offsets()[r];
    while (at < matrix.offsets()[r + 1] && matrix.column()[static_cast<std::size_t>(at)] != row) {
      ++at;
    }
    const bool missing = at == matrix.offsets()[r + 1];
    const E entry = missing ? E::zero() : matrix.entry(at);
    const E inverted = inverse(entry);
    if (missing || detail::is_singular(entry, inverted)) {
      throw Error(ErrorKind::singular,
                  "the diagonal entry of row " + std::to_string(row) + " is missing or singular");
    }
    offsets[r + 1] = row + 1;
    column[r] = row;
    std::copy_n(inverted.component, E::components, values.data() + r * E::components);
  }
  return {matrix.rows(), matrix.rows(), std::move(offsets), std::move(column), std::move(values)};
}

template <class S>
struct Chosen {
  std::string name;
  BlockForm form;
  std::unique_ptr<CuSparseProduct<S>> product;
};

/// The fastest of the methods that the library can run; only the best so far is kept.
template <class S>
Chosen<S> fastest(const std::vector<CuSparseMethod<S>>& methods, std::size_t scalars,
                  const Device& device) {
  constexpr int repetitions = 7;
  const Array<S> x(scalars, device);
  Array<S> y(scalars, device);
  Chosen<S> best;
  double least = std::numeric_limits<double>::infinity();
  std::string refusal = "there is none";
  for (const CuSparseMethod<S>& method : methods) {
    try {
      auto product = method.make();
      const std::vector<std::function<void(const Stream&)>> work = {
          [&](const Stream& stream) { product->queue(x.data(), y.data(), stream); }};
      const double seconds = measure(work, repetitions, device)[0].median;
      if (seconds >= least) continue;
      least = seconds;
      best = {method.name, method.form, std::move(product)};
    } catch (const Error& error) {
      refusal = method.name + ": " + error.what();
    }
  }
  if (best.product == nullptr) {
    throw Error(ErrorKind::unsupported,
                "cuSPARSE has no product for this matrix (" + refusal + ")");
  }
  return best;
}

class TextbookPeer final : public Peer {
 public:
  PeerPresence presence() const override {
    return {"cuSPARSE + cuBLAS", cusparse().version + " + " + cublas().version,
            "loops of library calls around the fastest product of cuSPARSE", true};
  }
  std::vector<PeerProduct> products(const Problem&, const Device&) override { return {}; }

  std::vector<PeerSolver> solvers(const Problem& problem, const MethodInfo& method,
                                  PreconditionerKind preconditioner,
                                  const Device& device) override {
    if (!device.on_gpu() || problem.matrix.is_defined() || !has_textbook_loop(method)) return {};
    return problem.matrix.visit([&](const auto& matrix) {
      return all_solvers(problem, matrix, method, preconditioner, device);
    });
  }

 private:
  template <class E>
  std::vector<PeerSolver> all_solvers(const Problem& problem, const CsrMatrix<E>& matrix,
                                      const MethodInfo& method, PreconditionerKind preconditioner,
                                      const Device& device) {
    using S = stored_scalar_t<E>;
    Chosen<S> A = product_of(problem, matrix, device);
    std::string name = A.name;
    TextbookSystem<S> system{std::move(A.product), nullptr, A.form, problem.x};
    if (preconditioner == PreconditionerKind::jacobi) {
      Chosen<S> M = inverse_of(matrix, A.form, device);
      system.inverse_diagonal = std::move(M.product);
      name += "; Jacobi: " + M.name;
    }
    constexpr int parts = has_complex_representation<E> ? 2 : 1;
    std::vector<PeerSolver> solvers;
    for (const auto& [form, words] : {std::pair(TextbookForm::host_scalars, "host scalars"),
                                      std::pair(TextbookForm::device_scalars, "device scalars"),
                                      std::pair(TextbookForm::graph, "CUDA graph")}) {
      if (!has_textbook_form(method, form)) continue;
      solvers.push_back(
          {std::string(words) + "; " + name, textbook_solve(system, method, parts, form, device)});
    }
    return solvers;
  }

  /// Chosen by measurement once a problem; the problem's other solvers reuse the choice.
  template <class E>
  Chosen<stored_scalar_t<E>> product_of(const Problem& problem, const CsrMatrix<E>& matrix,
                                        const Device& device) {
    const std::string key = problem.name + " " + std::string(name(problem.matrix.kind())) + " " +
                            std::string(name(problem.matrix.precision()));
    auto methods = cusparse_methods(matrix, device);
    if (const auto known = chosen_.find(key); known != chosen_.end()) {
      std::erase_if(methods, [&](const auto& method) { return method.name != known->second; });
    }
    auto best =
        fastest(methods, static_cast<std::size_t>(matrix.columns()) * tile_columns<E>, device);
    chosen_[key] = best.name;
    return best;
  }

  /// The product with the inverse diagonal, for vectors of that form.
  template <class E>
  static Chosen<stored_scalar_t<E>> inverse_of(const CsrMatrix<E>& matrix, const BlockForm& form,
                                               const Device& device) {
    const CsrMatrix<E> diagonal = inverse_diagonal(matrix);
    auto methods = cusparse_methods(diagonal, device);
    std::erase_if(methods, [&](const auto& method) { return method.form.signs != form.signs; });
    if (form.size == 1) {
      // For plain numbers, cuBLAS can multiply element by element.
      methods.push_back({"dgmm", form, [&] {
                           const auto& values = diagonal.values();
                           return diagonal_scaling<stored_scalar_t<E>>(
                               {values.begin(), values.end()}, form.parts, device);
                         }});
    }
    return fastest(methods, static_cast<std::size_t>(matrix.columns()) * tile_columns<E>, device);
  }

  std::map<std::string, std::string> chosen_;
};

}  // namespace

std::unique_ptr<Peer> textbook_peer() {
  try {
    cusparse();
    cublas();
  } catch (const Error& error) {
    return std::make_unique<AbsentPeer>("cuSPARSE + cuBLAS", error.what());
  }
  return std::make_unique<TextbookPeer>();
}

#else

std::unique_ptr<Peer> textbook_peer() {
  return std::make_unique<AbsentPeer>("cuSPARSE + cuBLAS", "this heddle was built without CUDA");
}

#endif

}  // namespace heddle::bench
