// Insufficient memory on a GPU: predicted where possible, otherwise one exception wherever it runs
// out, after which the library and the GPU continue to work.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"
#include "support/refusing_memory.hpp"

extern "C" int cudaGetLastError();

namespace out_of_memory_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;

int last_cuda_error() {
  if constexpr (has_cuda) return cudaGetLastError();
  return 0;
}

class OutOfMemoryOnGpu : public OnGpu {
 protected:
  template <template <class> class Solver>
  static std::vector<double> solve(const CsrMatrix<E>& matrix, const Field<E>& b, const Plan& plan,
                                   const Device& on) {
    const Operator<E> A(matrix, plan, on);
    Solver<double> solver(A, Jacobi<E>(A));
    Field<E> x(matrix.rows());
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    return x.scalars().to_host();
  }

  template <template <class> class Solver>
  void expect_one_error_wherever_it_runs_out(const std::vector<std::string>& plans,
                                             Generator& generator) const {
    const Index n = 700;
    const auto matrix = random_positive_definite_matrix<E>(n, 7, generator);
    const Field<E> b = random_field<E>(n, generator);
    const OwnStream stream;
    for (const std::string& text : plans) {
      SCOPED_TRACE(text);
      const Plan plan = parse_plan(text);
      const auto expected = solve<Solver>(matrix, b, plan, device);
      for (long long allowed = 0;; ++allowed) {
        SCOPED_TRACE(std::to_string(allowed) + " allocations");
        ASSERT_LT(allowed, 1000);
        RefusingMemory memory(Device::cuda(0, stream.get()).memory());
        memory.allow(allowed);
        bool solved = false;
        try {
          EXPECT_EQ(solve<Solver>(matrix, b, plan, Device::cuda(0, stream.get(), &memory)),
                    expected);
          solved = true;
          EXPECT_GT(allowed, 20);  // the matrix and the solver allocate all of theirs here
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
          EXPECT_NE(std::string(error.what()).find("from the caller's memory resource"),
                    std::string::npos)
              << error.what();
        }
        EXPECT_EQ(memory.live, 0);
        EXPECT_EQ(last_cuda_error(), 0);
        if (solved) break;
        ASSERT_EQ(solve<Solver>(matrix, b, plan, device), expected);
      }
    }
  }
};

TEST_F(OutOfMemoryOnGpu, EndsConjugateGradientWithOneError) {
  Seed seed(3111);
  expect_one_error_wherever_it_runs_out<ConjugateGradient>(
      {"pJDS,T=2,loop=stepped", "K2rs,schedule=dynamic,loop=graph",
       "C=32,sigma=64,loop=persistent"},
      seed.generator);
}

TEST_F(OutOfMemoryOnGpu, EndsBiCGStabWithOneError) {
  Seed seed(3112);
  expect_one_error_wherever_it_runs_out<BiCGStab>({"K1,loop=stepped", "pJDS,loop=graph"},
                                                  seed.generator);
}

/// Rows of more than 256 entries need separate buffers for sorting.
TEST_F(OutOfMemoryOnGpu, EndsTheBuildOfLongRowsWithOneError) {
  Seed seed(3113);
  const auto matrix = random_matrix<E>(
      {.rows = 600, .columns = 600, .dense_row = true, .sorted = false}, seed.generator);
  const Plan plan = parse_plan("pJDS");
  for (long long allowed = 0;; ++allowed) {
    ASSERT_LT(allowed, 200);
    RefusingMemory memory(device.memory());
    memory.allow(allowed);
    try {
      const Operator<E> A(matrix, plan, Device::cuda(0, nullptr, &memory));
      EXPECT_GT(allowed, 10);
      break;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
    }
    EXPECT_EQ(memory.live, 0);
  }
}

TEST_F(OutOfMemoryOnGpu, LeavesASolverThatCanTryAgain) {
  Seed seed(3114);
  const auto matrix = random_positive_definite_matrix<E>(900, 7, seed.generator);
  const Field<E> b = random_field<E>(900, seed.generator);
  for (const char* loop : {"loop=stepped", "loop=graph", "loop=persistent"}) {
    SCOPED_TRACE(loop);
    const Plan plan = parse_plan(std::string("pJDS,") + loop);
    RefusingMemory memory(device.memory());
    const Operator<E> A(matrix, plan, Device::cuda(0, nullptr, &memory));
    ConjugateGradient<double> solver(A, Jacobi<E>(A));
    for (long long allowed = 0; allowed < 100; ++allowed) {
      memory.allow(allowed);
      Field<E> x(900);
      try {
        const Report report = solver.solve(b.view(), x.view());
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_GT(allowed, 0);  // b and x on the host need room of their own on the GPU
        memory.allow_all();
        EXPECT_EQ(x.scalars().to_host(), solve<ConjugateGradient>(matrix, b, plan, device));
        break;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::memory) << error.what();
      }
    }
  }
}

TEST_F(OutOfMemoryOnGpu, PeakIsWhatWasPredicted) {
  Seed seed(3115);
  for (const bool dense_row : {false, true}) {
    const auto matrix = random_matrix<E>(
        {.rows = 5000, .columns = 5000, .per_row = 5, .dense_row = dense_row, .sorted = false},
        seed.generator);
    const auto narrow = random_matrix_of<real<float>>(
        random_pattern({.rows = 20000, .columns = 20000, .per_row = 1}, seed.generator),
        seed.generator);
    const auto check = [&]<class Entry>(const CsrMatrix<Entry>& of, const char* text) {
      SCOPED_TRACE(text);
      const Plan plan = parse_plan(text);
      RefusingMemory memory(device.memory());
      const Device counting = Device::cuda(0, nullptr, &memory);
      const MemoryUse use = memory_use(of.view().pattern(), plan, sizeof(Entry), counting);
      EXPECT_EQ(memory.live, 0);
      memory.peak = 0;
      const Operator<Entry> A(of, plan, counting);
      EXPECT_EQ(memory.live, A.memory().total());
      EXPECT_EQ(use.peak(), A.memory().peak());
      // Values pass through a buffer; flags and single numbers are not counted.
      constexpr long long small_change = 16384;
      const long long buffer = of.entries() * static_cast<long long>(sizeof(Entry));
      EXPECT_LE(memory.peak, std::max(use.peak(), use.total() + buffer) + small_change);
    };
    for (const char* text : {"CSR", "Sl-32", "pJDS", "K1", "K2rs", "sigma=1024,C=32"}) {
      check(matrix, text);
      check(narrow, text);
    }
  }
}

/// Fields, sums, and the additions of each form of the loop.
TEST_F(OutOfMemoryOnGpu, OfASolverIsWhatItSays) {
  Seed seed(3120);
  const auto matrix = random_positive_definite_matrix<E>(5000, 7, seed.generator);
  const auto check = [&]<class Solver>(const char* text, bool jacobi) {
    SCOPED_TRACE(std::string(text) + (jacobi ? ", Jacobi" : ""));
    RefusingMemory memory(device.memory());
    const Device counting = Device::cuda(0, nullptr, &memory);
    const Operator<E> A(matrix, parse_plan(text), counting);
    std::shared_ptr<Preconditioner<double>> with;
    if (jacobi) with = std::make_shared<Jacobi<E>>(A);
    Field<E> b = A.field(), x = A.field();
    fill<double>(1.0, b.view(), counting.stream());
    constexpr long long small_change = 4096;  // flags and single numbers
    // Memory that the matrix allocates at its first use is not attributed to the second solver.
    for (const bool first : {true, false}) {
      const long long before = memory.live;
      Solver solver(A, with);
      EXPECT_TRUE(solver.solve(b.view(), x.view()).converged());
      const long long more = memory.live - before - solver.memory();
      if (first) continue;
      EXPECT_GE(more, 0);
      EXPECT_LE(more, small_change);
    }
  };
  for (const bool jacobi : {false, true}) {
    for (const char* text :
         {"pJDS,loop=stepped", "pJDS,loop=graph", "pJDS,T=4,vector=soa,loop=graph,reductions=1",
          "C=32,threads=128,loop=graph,reductions=1", "K2rs,schedule=dynamic,loop=graph",
          "C=32,sigma=64,loop=persistent", "pJDS,stored=float,loop=graph,reductions=1"}) {
      check.operator()<ConjugateGradient<double>>(text, jacobi);
      check.operator()<BiCGStab<double>>(text, jacobi);
    }
  }
}

TEST_F(OutOfMemoryOnGpu, IsPredictedBeforeAnythingIsAllocated) {
  Seed seed(3116);
  const auto matrix = random_matrix<E>({.rows = 3000, .columns = 3000}, seed.generator);
  RefusingMemory memory(device.memory());
  CsrView<E> view = matrix.view();
  view.device = Device::cuda(0, nullptr, &memory);
  for (const char* text : {"CSR", "pJDS", "K1"}) {
    const Plan plan = parse_plan(text);
    const MemoryUse use = memory_use(view.pattern(), plan, sizeof(E), view.device);
    memory.allocations = 0;
    // The error message tries other plans, whose rows are sorted on the host.
    expect_error(ErrorKind::memory,
                 "this plan needs " + to_string(use) + ", available are 1000 B; no plan fits",
                 [&] { Operator<E>(view, plan, 1000); });
    EXPECT_EQ(memory.allocations, 0) << text;
  }
}

TEST_F(OutOfMemoryOnGpu, OfThePlanNamesWhatFits) {
  // One row names every column: in ELLPACK every row becomes as long.
  constexpr Index n = 300000;
  Pattern pattern{n, n, {0}, {}};
  for (Index row = 0; row < n; ++row) {
    for (Index column = row == 7 ? 0 : row; column < (row == 7 ? n : row + 1); ++column) {
      pattern.column.push_back(column);
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  Seed seed(3117);
  const auto matrix = random_matrix_of<E>(pattern, seed.generator);
  try {
    const Operator<E> A(matrix, parse_plan("ELL"), device);
    ADD_FAILURE() << "3 TiB, and built";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    const std::string what = error.what();
    for (const char* part :
         {"this plan needs 3.3 TiB (values 2.6 TiB, columns ", "value map 335.3 GiB",
          ", available are ", "; these fit: CSR (", "Sl-32 (", "pJDS ("}) {
      EXPECT_NE(what.find(part), std::string::npos) << part << " in\n" << what;
    }
  }
}

/// Fields so large that no GPU holds two of them.
class Vast final : public LinearOperator<double> {
 public:
  explicit Vast(const Device& device)
      : device_(device),
        components_(static_cast<int>(device.available_memory() / 2 / rows() / 8) + 1) {}
  Index rows() const override { return 1 << 20; }
  int row_components() const override { return components_; }
  Device device() const override { return device_; }
  void apply(double, const FieldView<const double>&, double, const FieldView<double>&,
             const Stream&) const override {}

 private:
  Device device_;
  int components_;
};

TEST_F(OutOfMemoryOnGpu, OfASolverIsPredicted) {
  const Vast matrix(device);
  try {
    ConjugateGradient<double> solver(matrix);
    ADD_FAILURE() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_TRUE(std::string(error.what()).starts_with("the solver needs 5 fields of "))
        << error.what();
  }
}

TEST_F(OutOfMemoryOnGpu, OfTheGpuItself) {
  Seed seed(3118);
  const auto matrix = random_positive_definite_matrix<E>(900, 7, seed.generator);
  const Field<E> b = random_field<E>(900, seed.generator);
  const Plan plan = parse_plan("pJDS,loop=graph");
  const auto expected = solve<ConjugateGradient>(matrix, b, plan, device);
  const long long available = device.available_memory();
  for (int repetition = 0; repetition < 3; ++repetition) {
    try {
      const Array<char> more(static_cast<std::size_t>(available) + (1ULL << 40), device);
      ADD_FAILURE() << "more than there is, and allocated";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::memory);
      const std::string what = error.what();
      EXPECT_TRUE(what.starts_with("the memory of GPU 0 does not suffice: ")) << what;
      EXPECT_NE(what.find(" TiB more requested, available are "), std::string::npos) << what;
    }
    EXPECT_EQ(last_cuda_error(), 0);
    EXPECT_EQ(solve<ConjugateGradient>(matrix, b, plan, device), expected);
  }
}

/// A matrix that would fit into an empty GPU is refused on one that is nearly full. Tests that run
/// at the same time would be refused too.
TEST_F(OutOfMemoryOnGpu, OfAGpuThatIsNearlyFull) {
  if (std::getenv("HEDDLE_TEST_LARGE") == nullptr) {
    GTEST_SKIP() << "HEDDLE_TEST_LARGE is not set: fills the GPU's memory";
  }
  Seed seed(3119);
  const auto matrix = random_positive_definite_matrix<E>(900, 7, seed.generator);
  const Field<E> b = random_field<E>(900, seed.generator);
  const Plan plan = parse_plan("pJDS,loop=graph");
  const auto expected = solve<ConjugateGradient>(matrix, b, plan, device);
  const long long available = device.available_memory();
  Array<char> most(static_cast<std::size_t>(available / 10 * 9), device);
  const auto n = static_cast<Index>(std::sqrt(static_cast<double>(available) / 3 / 8));
  Pattern pattern{n, n, {0}, {}};
  for (Index row = 0; row < n; ++row) {
    for (Index column = row == 0 ? 0 : row; column < (row == 0 ? n : row + 1); ++column) {
      pattern.column.push_back(column);
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  const auto wide = random_matrix_of<real<float>>(pattern, seed.generator);
  try {
    const Operator<real<float>> A(wide, parse_plan("ELL"), device);
    ADD_FAILURE() << "built";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("; these fit: CSR ("), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(solve<ConjugateGradient>(matrix, b, plan, device), expected);
  most = {};
  EXPECT_EQ(solve<ConjugateGradient>(matrix, b, plan, device), expected);
}

}  // namespace
}  // namespace out_of_memory_gpu
