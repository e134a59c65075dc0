// Runs in the release.
// Kernels compiled ahead by threads of their own.
#include "tuning/search/ahead_compiler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <future>
#include <set>
#include <stdexcept>

#include "spmv/nvrtc.hpp"
#include "support/entry_definitions.hpp"
#include "support/random_matrix.hpp"
#include "tuning/search/plan_kernels.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

/// Two kernels per plan: one of its own, and one that all plans share.
std::vector<cuda::KernelSource> two_kernels(const Plan& plan) {
  return {{"own", "own " + std::to_string(plan.schedule.chunk), {}, {}},
          {"shared", "shared", {}, {}}};
}
std::vector<Plan> plans(int first, int count) {
  std::vector<Plan> made(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) made[static_cast<std::size_t>(i)].schedule.chunk = first + i;
  return made;
}

/// The texts compiled, in order.
struct Log {
  std::mutex mutex;
  std::vector<std::string> texts;
  void add(const std::string& text) {
    const std::lock_guard lock(mutex);
    texts.push_back(text);
  }
};

TEST(AheadCompiler, CompilesEachKernelOnceTheSoonestFirst) {
  Log log;
  AheadCompiler ahead(two_kernels, [&](const auto& source) { log.add(source.text); }, 1);
  ahead.announce(plans(1, 3));
  ahead.wait();
  EXPECT_EQ(log.texts, (std::vector<std::string>{"own 1", "shared", "own 2", "own 3"}));
  ahead.announce(plans(2, 3));
  ahead.wait();
  EXPECT_EQ(log.texts.size(), 5u);
  EXPECT_EQ(log.texts.back(), "own 4");
}

TEST(AheadCompiler, SharesTheWorkOutOverThreads) {
  Log log;
  AheadCompiler ahead(two_kernels, [&](const auto& source) { log.add(source.text); }, 4);
  ahead.announce(plans(1, 200));
  ahead.wait();
  std::sort(log.texts.begin(), log.texts.end());
  EXPECT_EQ(log.texts.size(), 201u);
  EXPECT_EQ(std::unique(log.texts.begin(), log.texts.end()), log.texts.end());
}

TEST(AheadCompiler, WhatComesLaterLeavesCapacity) {
  std::promise<void> soon_is_done, goes_on;
  const std::shared_future<void> may_end = goes_on.get_future().share();
  std::atomic<int> later_at_once = 0, max_at_once = 0;
  Log log;
  {
    AheadCompiler ahead(
        two_kernels,
        [&](const auto& source) {
          log.add(source.text);
          if (source.text == "own 500") soon_is_done.set_value();
          if (source.text != "own 1" && source.text != "own 2") return;
          max_at_once = std::max(max_at_once.load(), ++later_at_once);
          may_end.wait();
          --later_at_once;
        },
        2);
    ahead.announce_later(plans(1, 2));
    while (later_at_once == 0) std::this_thread::yield();
    ahead.announce(plans(500, 1));
    soon_is_done.get_future().wait();  // though later kernels are still being compiled
    ahead.announce_later(plans(1, 2));
    goes_on.set_value();
    ahead.wait();
  }
  EXPECT_EQ(max_at_once, 1);
  std::sort(log.texts.begin(), log.texts.end());
  EXPECT_EQ(log.texts, (std::vector<std::string>{"own 1", "own 2", "own 500", "shared"}));
}

TEST(AheadCompiler, SurvivesWhatFails) {
  std::atomic<int> calls = 0;
  AheadCompiler ahead(
      [](const Plan& plan) {
        if (plan.schedule.chunk == 2) throw Error(ErrorKind::bad_plan, "no kernels");
        return two_kernels(plan);
      },
      [&](const auto&) {
        ++calls;
        throw std::runtime_error("does not compile");
      },
      2);
  ahead.announce(plans(1, 3));
  ahead.wait();
  EXPECT_EQ(calls, 3);
}

TEST(AheadCompiler, ForgetsWhatWaitsWhenItEndsOrHasOtherPlans) {
  std::promise<void> begun, goes_on;
  const std::shared_future<void> may_end = goes_on.get_future().share();
  Log log;
  {
    bool is_first = true;
    AheadCompiler ahead(
        two_kernels,
        [&](const auto& source) {
          log.add(source.text);
          if (std::exchange(is_first, false)) {
            begun.set_value();
            may_end.wait();
          }
        },
        1);
    ahead.announce(plans(1, 100));
    begun.get_future().wait();
    ahead.announce(plans(500, 1));  // in place of the others
    goes_on.set_value();
    ahead.wait();
    ahead.announce({});
    ahead.wait();
  }
  EXPECT_EQ(log.texts, (std::vector<std::string>{"own 1", "own 500", "shared"}));
  AheadCompiler unused(two_kernels, [](const auto&) {}, 3);
  unused.wait();
}

TEST(AheadCompiler, CompilesTheKernelsOfPlans) {
  try {
    cuda::nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  Seed seed(5201);
  const AnyMatrix typed(random_positive_definite_matrix<quaternion<float>>(90, 4, seed.generator));
  const AnyMatrix defined(
      as_defined(random_matrix<quaternion<double>>({.rows = 70, .columns = 70}, seed.generator),
                 quaternion_definition()));
  DeviceProperties target;
  target.architecture = 90;
  target.multiprocessors = 132;
  target.shared_memory_of_block = 232448;
  std::mutex mutex;
  std::vector<std::string> failures;
  int compiled = 0;
  std::atomic<int> asked{0};
  // All of them take a minute on one core.
  const int every = std::getenv("HEDDLE_DEEP_CHECK") != nullptr ? 1 : 8;
  const auto compile = [&](const cuda::KernelSource& source) {
    std::string failure;
    try {
      if (asked++ % every == 0) {
        EXPECT_FALSE(cuda::compile_kernel(source, target.architecture).data.empty());
      }
    } catch (const Error& error) {
      failure = error.what();
    }
    const std::lock_guard lock(mutex);
    ++compiled;
    if (!failure.empty()) failures.push_back(failure);
  };
  std::size_t expected = 0;
  for (const AnyMatrix* matrix : {&typed, &defined}) {
    for (const std::string_view objective_name : objective_names()) {
      const Objective objective = parse_objective(objective_name);
      const auto kernels_of = [&](const Plan& plan) {
        return cuda::kernels_of_plan(*matrix, plan, MemoryUse{}, objective, target);
      };
      AheadCompiler ahead(kernels_of, compile);
      std::vector<Plan> announced;
      std::set<std::string> distinct;
      for (const char* text : {"pJDS,T=2,schedule=full,loop=graph,reductions=1",
                               "C=32,schedule=dynamic,loop=persistent", "CSR,loop=stepped"}) {
        announced.push_back(parse_plan(text));
        // The product; or, where Jacobi is possible, the diagonal, a residual, a product in the
        // loop or the loop itself, and the steps of a loop that is not one kernel.
        const auto kernels = kernels_of(announced.back());
        const std::size_t count = kernels.size();
        if (objective == Objective::product()) {
          EXPECT_EQ(count, 1u);
        } else if (announced.back().loop.form == LoopForm::persistent &&
                   objective.method->has_one_kernel) {
          EXPECT_EQ(count, 3u);
        } else {
          EXPECT_GT(count, 3u);
        }
        for (const auto& kernel : kernels) distinct.insert(kernel.text);  // plans share steps
      }
      expected += distinct.size();
      ahead.announce(announced);
      ahead.wait();
    }
  }
  EXPECT_TRUE(failures.empty()) << failures.front();
  EXPECT_EQ(static_cast<std::size_t>(compiled), expected);
}

}  // namespace
