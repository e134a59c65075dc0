// Several threads at once, each with its own stream and solver; other work on the default stream;
// and several GPUs in one process.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/random_matrix.hpp"

extern "C" int cudaLaunchHostFunc(CUstream_st* stream, void (*function)(void*), void* data);
extern "C" int cudaStreamSynchronize(CUstream_st* stream);
extern "C" int cudaGetDeviceCount(int* count);
extern "C" int cudaGetDevice(int* device);
extern "C" int cudaSetDevice(int device);

namespace concurrent_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;
using Scalars = std::vector<double>;

constexpr std::size_t threads = 4;

template <template <class> class Solver>
Scalars solve(const Operator<E>& A, const Field<E>& b, int repetitions = 1) {
  Solver<double> solver(A, Jacobi<E>(A));
  Scalars scalars;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    Field<E> x(A.rows());
    const Report report = solver.solve(b.view(), x.view());
    EXPECT_TRUE(report.converged()) << report;
    const Scalars these = x.scalars().to_host();
    if (repetition > 0) {
      EXPECT_EQ(these, scalars);
    }
    scalars = these;
  }
  return scalars;
}

/// Calls `work(i)` in thread i, all at once.
template <class Work>
void in_threads(std::size_t count, const Work& work) {
  std::atomic<std::size_t> ready = 0;
  std::vector<std::thread> team;
  for (std::size_t i = 0; i < count; ++i) {
    team.emplace_back([&, i] {
      ++ready;
      while (ready < count) std::this_thread::yield();
      EXPECT_NO_THROW(work(i));
    });
  }
  for (std::thread& thread : team) thread.join();
}

class ConcurrentOnGpu : public OnGpu {
 protected:
  template <template <class> class Solver>
  void expect_bits_of_solves_alone(Index rows, const std::vector<std::string>& plans,
                                   Generator& generator) const {
    const auto matrix = random_positive_definite_matrix<E>(rows, 7, generator);
    std::vector<Field<E>> b;
    for (std::size_t i = 0; i < threads; ++i) b.push_back(random_field<E>(rows, generator));
    for (const std::string& text : plans) {
      SCOPED_TRACE(text);
      const Plan plan = parse_plan(text);
      const Operator<E> A(matrix, plan, device);
      std::vector<Scalars> alone;
      for (const Field<E>& of : b) alone.push_back(solve<Solver>(A, of));

      const std::array<OwnStream, threads> streams;
      const auto own = [&](std::size_t i) { return Device::cuda(0, streams[i].get()); };
      std::vector<Scalars> together(threads);
      in_threads(threads, [&](std::size_t i) { together[i] = solve<Solver>(A, b[i], 3); });
      EXPECT_EQ(together, alone) << "one operator, one stream";
      in_threads(threads, [&](std::size_t i) {
        const Operator<E> mine = A.on(own(i));
        together[i] = solve<Solver>(mine, b[i], 3);
      });
      EXPECT_EQ(together, alone) << "one operator, a stream each";
      in_threads(threads, [&](std::size_t i) {
        const Operator<E> mine(matrix, plan, own(i));
        together[i] = solve<Solver>(mine, b[i], 3);
      });
      EXPECT_EQ(together, alone) << "an operator each";
    }
  }
};

TEST_F(ConcurrentOnGpu, ConjugateGradientHasTheBitsOfSolvesAlone) {
  Seed seed(3201);
  expect_bits_of_solves_alone<ConjugateGradient>(
      3001, {"pJDS,loop=stepped", "pJDS,T=2,loop=graph", "pJDS,loop=persistent"}, seed.generator);
}

TEST_F(ConcurrentOnGpu, BiCGStabHasTheBitsOfSolvesAlone) {
  Seed seed(3202);
  expect_bits_of_solves_alone<BiCGStab>(3001, {"Sl-32,loop=stepped", "K1rs,loop=graph"},
                                        seed.generator);
}

/// Blocks count the work they have taken: simultaneous solves must not share a counter.
TEST_F(ConcurrentOnGpu, DynamicSchedulesDoNotMeet) {
  Seed seed(3203);
  const std::vector<std::string> plans = {"Sl-32,schedule=dynamic,chunk=1,loop=stepped",
                                          "Sl-32,schedule=dynamic,chunk=1,loop=graph"};
  expect_bits_of_solves_alone<ConjugateGradient>(60000, plans, seed.generator);
}

/// One kernel serves matrices that need more or less of its shared memory.
TEST_F(ConcurrentOnGpu, PersistentLoopsOfSeveralSizes) {
  Seed seed(3204);
  const Plan plan = parse_plan("Sl-32,loop=persistent");
  const auto large = random_positive_definite_matrix<E>(20000, 7, seed.generator);
  const auto small = random_positive_definite_matrix<E>(200, 7, seed.generator);
  const Field<E> b_large = random_field<E>(20000, seed.generator);
  const Field<E> b_small = random_field<E>(200, seed.generator);
  const Operator<E> A(large, plan, device), B(small, plan, device);
  const auto solves = [](ConjugateGradient<double>& solver, const Field<E>& b) {
    Field<E> x(b.size());
    return solver.solve(b.view(), x.view()).converged();
  };
  ConjugateGradient<double> of_large(A);
  ConjugateGradient<double> of_small(B);
  EXPECT_TRUE(solves(of_large, b_large));
  EXPECT_TRUE(solves(of_small, b_small));
  EXPECT_TRUE(solves(of_large, b_large));
}

TEST_F(ConcurrentOnGpu, AHandleStaysOnItsGpu) {
  Seed seed(3205);
  const auto matrix = random_positive_definite_matrix<E>(50, 5, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"), device);
  expect_error(ErrorKind::usage,
               "a matrix stays where it was built; to use another GPU or the CPU, build it there",
               [&] { A.on(Device::cpu()); });
}

/// Blocks the default stream until it is opened, for at most 20 seconds.
class Gate {
 public:
  Gate() {
    if constexpr (has_cuda) {
      EXPECT_EQ(cudaLaunchHostFunc(legacy(), wait, this), 0);
    }
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    open_ = true;
    if constexpr (has_cuda) {
      EXPECT_EQ(cudaStreamSynchronize(legacy()), 0);
    }
  }
  bool is_shut() const { return !gave_up_; }

 private:
  /// cudaStreamLegacy.
  static CUstream_st* legacy() { return reinterpret_cast<CUstream_st*>(std::uintptr_t(1)); }
  static void wait(void* data) {
    auto& gate = *static_cast<Gate*>(data);
    for (int i = 0; i < 20000 && !gate.open_; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    gate.gave_up_ = !gate.open_;
  }

  std::atomic<bool> open_ = false;
  std::atomic<bool> gave_up_ = false;
};

/// Work on the default stream would not finish behind the gate, and its results would be missing.
TEST_F(ConcurrentOnGpu, NothingRunsOnTheDefaultStream) {
  Seed seed(3206);
  constexpr Index n = 2000;
  const auto matrix = random_positive_definite_matrix<E>(n, 7, seed.generator);
  const Field<E> b = random_field<E>(n, seed.generator);
  const OwnStream stream;
  for (const Device& on : {device, Device::cuda(0, stream.get())}) {
    for (const char* loop : {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"}) {
      SCOPED_TRACE(loop);
      const Plan plan = parse_plan(std::string("pJDS,T=2,") + loop);
      Operator<E> A(matrix, plan, on);
      const Array<double> values(matrix.values().span(), on);
      ConjugateGradient<double> conjugate_gradient(A, Jacobi<E>(A));
      BiCGStab<double> bicgstab(A, Jacobi<E>(A));
      const auto run = [&] {
        Scalars scalars;
        const auto add = [&](const Field<E>& x) {
          const Scalars more = x.scalars().to_host();
          scalars.insert(scalars.end(), more.begin(), more.end());
        };
        A.update_values(matrix);
        A.update_values(values);
        Field<E> x(n), y(n), x_there = A.field(), y_there = A.field();
        EXPECT_TRUE(conjugate_gradient.solve(b.view(), x.view()).converged());
        EXPECT_TRUE(bicgstab.solve(b.view(), y.view()).converged());
        permute<double>(x.view(), x_there.view(), 1.0, on.stream());
        A.apply(1, x_there, 0, y_there, on.stream());
        scalars.push_back(norm<E>(y_there));
        permute<double>(y_there.view(), y.view(), 1.0, on.stream());
        add(x);
        add(y);
        return scalars;
      };
      // The first run loads kernels and allocates, for which CUDA may wait for all other work.
      const Scalars expected = run();
      const Gate gate;
      EXPECT_EQ(run(), expected);
      EXPECT_TRUE(gate.is_shut());
    }
  }
}

class SeveralGpus : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    int count = 0;
    if constexpr (has_cuda) cudaGetDeviceCount(&count);
    if (count < 2) GTEST_SKIP() << "there is one GPU";
  }
  static int current() {
    int gpu = -1;
    if constexpr (has_cuda) cudaGetDevice(&gpu);
    return gpu;
  }
  static void set_current(int gpu) {
    if constexpr (has_cuda) {
      EXPECT_EQ(cudaSetDevice(gpu), 0);
    }
  }
};

TEST_F(SeveralGpus, SolveAtOnceWithTheSameBits) {
  Seed seed(3211);
  constexpr Index n = 5000;
  const auto matrix = random_positive_definite_matrix<E>(n, 7, seed.generator);
  const Field<E> b = random_field<E>(n, seed.generator);
  for (const char* loop : {"loop=stepped", "loop=graph", "loop=replay", "loop=persistent"}) {
    SCOPED_TRACE(loop);
    const Plan plan = parse_plan(std::string("pJDS,T=2,") + loop);
    const Scalars expected = solve<ConjugateGradient>(Operator<E>(matrix, plan, device), b);
    std::vector<Scalars> together(2);
    in_threads(2, [&](std::size_t i) {
      const Operator<E> A(matrix, plan, Device::cuda(static_cast<int>(i)));
      together[i] = solve<ConjugateGradient>(A, b, 3);
    });
    EXPECT_EQ(together, (std::vector<Scalars>{expected, expected}));
  }
}

TEST_F(SeveralGpus, LeaveTheCurrentOneAsTheyFoundIt) {
  Seed seed(3212);
  constexpr Index n = 900;
  const auto matrix = random_positive_definite_matrix<E>(n, 7, seed.generator);
  const Field<E> b = random_field<E>(n, seed.generator);
  const Device second = Device::cuda(1);
  for (const int before : {0, 1}) {
    for (const Device& on : {device, second}) {
      SCOPED_TRACE("current " + std::to_string(before) + ", at work " +
                   std::to_string(on.stream().gpu));
      set_current(before);
      {
        EXPECT_FALSE(on.description().empty());
        EXPECT_GT(on.available_memory(), 0);
        EXPECT_EQ(current(), before);
        Operator<E> A(matrix, parse_plan("pJDS,loop=graph"), on);
        EXPECT_EQ(current(), before);
        const Jacobi<E> jacobi(A);
        EXPECT_EQ(current(), before);
        ConjugateGradient<double> solver(A, jacobi);
        EXPECT_EQ(current(), before);
        A.update_values(matrix);
        EXPECT_EQ(current(), before);
        Field<E> x(n);
        EXPECT_TRUE(solver.solve(b.view(), x.view()).converged());
        EXPECT_EQ(current(), before);
        Field<E> there = A.field();
        permute<double>(x.view(), there.view(), 1.0, on.stream());
        EXPECT_GT(norm<E>(there), 0);
        EXPECT_EQ(current(), before);
      }
      EXPECT_EQ(current(), before);
    }
  }
  set_current(0);
}

TEST_F(SeveralGpus, RefuseTheMemoryOfOneAnother) {
  Seed seed(3213);
  const auto matrix = random_positive_definite_matrix<E>(100, 5, seed.generator);
  const Device second = Device::cuda(1);
  const Operator<E> A(matrix, parse_plan("CSR"), device);
  ConjugateGradient<double> solver(A);
  Field<E> b(100, second), x(100);
  expect_error(ErrorKind::usage, "memory of GPU 1 is used in work on GPU 0; copy it there first",
               [&] { solver.solve(b.view(), x.view()); });
}

}  // namespace
}  // namespace concurrent_gpu
