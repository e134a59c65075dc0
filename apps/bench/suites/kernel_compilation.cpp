#include "kernel_compilation.hpp"

#include <chrono>
#include <string>

#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "spmv/kernel_compiler.hpp"
#include "spmv/product_program.hpp"

namespace heddle::cuda {
int architecture(const Stream& stream);  // from src/spmv/kernel_library_cuda.hpp, without CUDA's
}

namespace heddle::bench {

namespace {

cuda::KernelSource source_of(const Problem& problem, const Plan& plan, const Device& device) {
  return problem.matrix.visit([&]<class E>(const CsrMatrix<E>& given) {
    const Operator<E> A(given, plan, device);
    return cuda::product_source(A.product_on_gpu()->program(device::store_scaled),
                                cuda::architecture(device.stream()));
  });
}

/// An option that no earlier program had, so that no cache has its kernel.
std::string new_option() {
  static int count = 0;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return "-DHEDDLE_COMPILED_AT=" + std::to_string(now) + std::to_string(count++);
}

}  // namespace

std::vector<Record> kernel_compilation(const Problem& problem, const std::vector<OwnPlan>& plans,
                                       const Device& device) {
  std::vector<Record> records;
  if constexpr (has_cuda) {
    constexpr int repetitions = 3;
    records = {record_of("setup", problem, "compile kernel"),
               record_of("setup", problem, "load kernel")};
    std::vector<Candidate> compiled(plans.size()), loaded(plans.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
      std::vector<std::vector<double>> seconds(2);
      const bool measured = or_failure(compiled[i], [&] {
        const cuda::KernelSource source = source_of(problem, *plans[i].plan, device);
        const int architecture = cuda::architecture(device.stream());
        cuda::compile_kernel(source, architecture);
        for (int r = 0; r < repetitions; ++r) {
          cuda::KernelSource changed = source;
          changed.options.push_back(new_option());
          seconds[0].push_back(cuda::compile_kernel(changed, architecture).seconds);
          const cuda::KernelImage again = cuda::compile_kernel(source, architecture);
          if (again.cached) seconds[1].push_back(again.seconds);
        }
      });
      if (!measured) {
        loaded[i].failure = compiled[i].failure;
        continue;
      }
      const bool has_cache = !seconds[1].empty();
      const std::vector<Timing> timings = detail::timings_of(seconds);
      compiled[i].seconds = timings[0];
      if (has_cache) {
        loaded[i].seconds = timings[1];
      } else {
        loaded[i].failure = "there is no kernel cache on disk";
      }
    }
    const auto no_best = [](const Candidate&) { return std::optional<double>(); };
    add_own_candidates(records[0], plans, compiled, no_best);
    add_own_candidates(records[1], plans, loaded, no_best);
  }
  return records;
}

}  // namespace heddle::bench
