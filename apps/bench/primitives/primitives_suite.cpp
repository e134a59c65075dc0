// Sums, updates, lists and dense products on a GPU: Heddle's kernels next to CUB's and cuBLAS's.
#include "suites/suite.hpp"

#ifdef HEDDLE_BENCH_CUDA
#include "primitives_cuda.hpp"
#endif

namespace heddle::bench {

void primitives_suite(Session& session, const Problem& problem) {
  if (!session.device().on_gpu()) {
    throw Error(ErrorKind::unsupported, "the suite primitives needs a GPU: --device cuda");
  }
#ifdef HEDDLE_BENCH_CUDA
  vector_primitives(session, problem);
  setup_primitives(session, problem);
  block_primitives(session, problem);
  dense_primitives(session, problem);
#else
  static_cast<void>(problem);
  throw Error(ErrorKind::unsupported,
              "this heddle was built without CUDA or the headers of cuSPARSE and cuBLAS");
#endif
}

}  // namespace heddle::bench
