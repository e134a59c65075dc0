// Runs in the release.
// The plans of the tuner's spaces: each is a valid plan, each runs on its device, and none occurs
// twice.
#include "heddle/tuning/search_space.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/error.hpp"
#include "solvers/gpu_loops/persistent_program.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/random_plan.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

struct Case {
  std::string name;
  DeviceProperties device;
  TuningSubject subject;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const std::map<std::string, DeviceProperties> devices = {{"sm_90", hopper_like()},
                                                           {"sm_80", ampere_like()},
                                                           {"small GPU", small_gpu()},
                                                           {"CPU", cpu_like(8)},
                                                           {"CPU, one thread", cpu_like(1)}};
  for (const auto& [name, device] : devices) {
    for (const std::string_view objective_name : objective_names()) {
      const Objective objective = parse_objective(objective_name);
      const std::string title = name + ", " + std::string(heddle::name(objective));
      all.push_back({title, device, {100000, 100000, 1500000, 72, 8, objective}});
      all.push_back({title + ", small", device, {900, 900, 9000, 72, 8, objective}});
      all.push_back({title + ", numbers", device, {100000, 100000, 1500000, 4, 4, objective}});
    }
    all.push_back({name + ", exact copies",
                   device,
                   {.rows = 100000,
                    .columns = 100000,
                    .entries = 1500000,
                    .entry_bytes = 32,
                    .scalar_bytes = 8,
                    .objective = parse_objective("cg"),
                    .exact = {StoredScalar::dictionary, StoredScalar::unit}}});
    all.push_back(
        {name + ", rectangular", device, {3000, 5000, 90000, 16, 8, Objective::product()}});
  }
  return all;
}

/// Properties of every plan of every space.
void check(const Plan& plan, const SearchSpace& space) {
  SCOPED_TRACE(to_string(plan));
  const DeviceProperties& device = space.device();
  const TuningSubject& subject = space.subject();
  EXPECT_EQ(parse_plan(to_string(plan)), plan);
  EXPECT_EQ(plan_from_json(to_json(plan)), plan);
  EXPECT_NO_THROW(check_plan(plan));
  EXPECT_EQ(space.reduced(plan), plan);
  const auto& exact = subject.exact;
  EXPECT_TRUE(plan.layout.stored == StoredScalar::own ||
              std::find(exact.begin(), exact.end(), plan.layout.stored) != exact.end());
  EXPECT_EQ(plan.loop.recurrence, Recurrence::ring);
  const bool moves_rows = plan.layout.sort_window != 1 || plan.layout.order != RowOrder::natural;
  if (subject.rows != subject.columns) {
    EXPECT_EQ(plan.layout.order, RowOrder::natural);
    EXPECT_TRUE(!moves_rows || plan.layout.basis == BasisUse::user);
  }
  if (!device.gpu) {
    EXPECT_EQ(plan.loop.form, LoopForm::stepped);
    return;
  }
  EXPECT_NO_THROW(cuda::check_plan_for_gpu(plan));
  if (plan.loop.form == LoopForm::persistent) {
    EXPECT_NO_THROW(cuda::check_plan_for_persistent_loop(
        plan, plan.layout.basis == BasisUse::user && moves_rows));
  }
  EXPECT_LE(plan.gpu.block_size, device.threads_of_block);
  EXPECT_LE(plan.gpu.blocks, device.blocks_of_multiprocessor);
  EXPECT_LE(plan.gpu.block_size * std::max(1, plan.gpu.blocks), device.threads_of_multiprocessor);
}

bool checks_deeply() { return std::getenv("HEDDLE_DEEP_CHECK") != nullptr; }

TEST(PapersSpace, HoldsPlansThatRunEachOnceAndLayoutsTogether) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const SearchSpace space = SearchSpace::papers(c.subject, c.device);
    const std::vector<Plan> plans = space.plans();
    std::set<std::string> texts;
    std::vector<Plan> layouts;
    const std::size_t part = checks_deeply() ? 1 : 7;  // one in seven of thousands of similar plans
    for (const Plan& plan : plans) {
      if (texts.size() % part == 0) check(plan, space);
      texts.insert(to_string(plan));
      if (layouts.empty() || layouts.back().layout != plan.layout) layouts.push_back(plan);
    }
    EXPECT_EQ(texts.size(), plans.size());
    for (std::size_t i = 0; i < layouts.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(layouts[i].layout == layouts[j].layout);
    }
    EXPECT_LE(static_cast<double>(plans.size()), space.combinations());
    EXPECT_TRUE(plans.front().layout == natural_layout(plans.front()).layout);
  }
}

/// Number of valid combinations of threads and blocks, found by trial.
std::size_t extents_of(const DeviceProperties& device) {
  const auto is_choice = [](int value) {
    return value > 0 && (std::has_single_bit(static_cast<unsigned>(value)) ||
                         (value % 3 == 0 && std::has_single_bit(static_cast<unsigned>(value / 3))));
  };
  std::size_t extents = 0;
  for (int threads = 1; threads <= device.threads_of_block; ++threads) {
    const int warps = threads / device.warp;
    if (threads % device.warp != 0 || (warps > 8 && !is_choice(warps))) continue;
    try {
      parse_plan("threads=" + std::to_string(threads));
    } catch (const Error&) {
      continue;
    }
    for (int blocks = 1; blocks <= device.blocks_of_multiprocessor; ++blocks) {
      extents += is_choice(blocks) && threads * blocks <= device.threads_of_multiprocessor;
    }
  }
  return extents;
}

TEST(PapersSpace, IsTheirProduct) {
  // Five outer layouts in three inner ones and CSR in two, each in two vector layouts.
  constexpr std::size_t layouts = 34, schedules = 2;
  for (const DeviceProperties& device : {hopper_like(), ampere_like(), small_gpu()}) {
    const TuningSubject subject{100000, 100000, 1500000, 72, 8, Objective::product()};
    EXPECT_EQ(SearchSpace::papers(subject, device).plans().size(),
              layouts * schedules * extents_of(device));
  }
  // On a CPU 4 chunks when dynamic, 5 distances of x, 5 of the matrix where it is contiguous.
  const TuningSubject subject{100000, 100000, 1500000, 72, 8, Objective::product()};
  EXPECT_EQ(SearchSpace::papers(subject, cpu_like(8)).plans().size(), 6U * 2 * 5 * 5 * (5 + 1));
}

TEST(PapersSpace, FollowsTheDeviceBounds) {
  DeviceProperties narrow = hopper_like();
  narrow.threads_of_block = 256;
  narrow.registers_of_multiprocessor = 32768;
  const TuningSubject subject{100000, 100000, 1500000, 72, 8, Objective::product()};
  for (const Plan& plan : SearchSpace::papers(subject, narrow).plans()) {
    EXPECT_LE(plan.gpu.block_size, 256);
    EXPECT_LE(plan.gpu.block_size * plan.gpu.blocks * 32, 32768);
  }
}

TEST(WholeSpace, HoldsPlansThatRun) {
  std::mt19937_64 generator(3);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const SearchSpace space = SearchSpace::whole(c.subject, c.device);
    const int some = checks_deeply() ? 1500 : 300;
    for (int i = 0; i < some; ++i) check(random_plan(space, generator), space);
  }
}

TEST(WholeSpace, HoldsEveryTwoChoicesThatGoTogether) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const SearchSpace space = SearchSpace::whole(c.subject, c.device);
    const std::vector<Axis>& axes = space.axes();
    for (std::size_t a = 0; a < axes.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        for (std::size_t i = 0; i < axes[a].choices.size(); ++i) {
          for (std::size_t j = 0; j < axes[b].choices.size(); ++j) {
            const auto plan =
                space.with(space.base(), {{a, static_cast<int>(i)}, {b, static_cast<int>(j)}});
            if (plan) check(*plan, space);
          }
        }
      }
    }
  }
}

TEST(WholeSpace, HasNoChoiceThatNoPlanTakes) {
  std::mt19937_64 generator(4);
  const TuningSubject subject{100000, 100000, 1500000, 72, 8, parse_objective("cg")};
  for (const DeviceProperties& device : {hopper_like(), ampere_like(), cpu_like(8)}) {
    const SearchSpace space = SearchSpace::whole(subject, device);
    std::set<std::pair<std::size_t, int>> taken;
    for (int i = 0; i < 500; ++i) {
      const Plan plan = random_plan(space, generator);
      for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
        for (int choice = 0; choice < static_cast<int>(space.axes()[axis].choices.size());
             ++choice) {
          if (space.with(plan, axis, choice) == plan) taken.emplace(axis, choice);
        }
      }
    }
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
      for (int choice = 0; choice < static_cast<int>(space.axes()[axis].choices.size()); ++choice) {
        const bool overlaps = space.axes()[axis].name == "launch" && choice == 1;
        EXPECT_EQ(taken.contains({axis, choice}), !overlaps || device.architecture >= 90)
            << space.axes()[axis].choices[static_cast<std::size_t>(choice)];
      }
    }
  }
}

TEST(SearchSpace, AgreesOnPlansByChoicesAndBySteps) {
  std::mt19937_64 generator(5);
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    for (const SearchSpace& space :
         {SearchSpace::papers(c.subject, c.device), SearchSpace::whole(c.subject, c.device)}) {
      for (int i = 0; i < 100; ++i) {
        std::vector<int> choices;
        for (const Axis& axis : space.axes()) {
          choices.push_back(static_cast<int>(generator() % axis.choices.size()));
        }
        const auto plan = space.plan(choices);
        if (!plan) continue;
        check(*plan, space);
        for (std::size_t axis = 0; axis < choices.size(); ++axis) {
          EXPECT_EQ(space.with(*plan, axis, choices[axis]), plan);
        }
      }
    }
  }
}

TEST(SearchSpace, LetsWhatCannotStayGiveWay) {
  const TuningSubject subject{100000, 100000, 1500000, 72, 8, parse_objective("cg")};
  const SearchSpace space = SearchSpace::whole(subject, hopper_like());
  const auto with = [&](const char* plan, const std::string& setting) -> std::optional<Plan> {
    for (std::size_t axis = 0; axis < space.axes().size(); ++axis) {
      const auto& choices = space.axes()[axis].choices;
      for (std::size_t i = 0; i < choices.size(); ++i) {
        if (choices[i] == setting) {
          return space.with(space.reduced(parse_plan(plan, space.base())), axis,
                            static_cast<int>(i));
        }
      }
    }
    ADD_FAILURE() << "no choice " << setting;
    return {};
  };
  EXPECT_EQ(with("C=32,T=8", "C=1")->layout.threads_per_row, 1);
  EXPECT_EQ(with("C=64,T=16", "C=8")->layout.threads_per_row, 8);
  EXPECT_EQ(with("C=32,threshold=8", "C=n")->layout.threshold, 0);
  EXPECT_EQ(with("C=32,threshold=8", "threads-per-row=4")->layout.threshold, 0);
  EXPECT_EQ(with("C=32,T=4", "threshold=8")->layout.threads_per_row, 1);
  EXPECT_EQ(with("C=32,T=4", "entry-layout=soa")->layout.threads_per_row, 4);
  EXPECT_EQ(with("C=32,loop=persistent", "C=n")->loop.form, LoopForm::graph);
  EXPECT_EQ(with("C=32,sigma=n,loop=persistent", "basis=user")->loop.form, LoopForm::graph);
  EXPECT_FALSE(with("C=n", "loop=persistent"));
  EXPECT_FALSE(with("C=1", "threads-per-row=4"));
  EXPECT_FALSE(with("C=32,schedule=static", "chunk=4"));
  EXPECT_FALSE(with("C=32", "basis=user"));
  EXPECT_FALSE(with("C=32,loop=persistent", "block-size=512"));
  EXPECT_FALSE(with("threads=512,blocks=4", "block-size=1024"));
  EXPECT_EQ(with("threads=512,blocks=2", "block-size=256")->gpu.blocks, 2);
}

TEST(SearchSpace, KnowsWhatMeansNothing) {
  const TuningSubject subject{1000, 1000, 10000, 16, 8, parse_objective("cg")};
  const SearchSpace gpu = SearchSpace::whole(subject, hopper_like());
  const auto mean_the_same = [](const SearchSpace& space, const char* a, const char* b) {
    return space.reduced(parse_plan(a, space.base())) == space.reduced(parse_plan(b, space.base()));
  };
  EXPECT_TRUE(mean_the_same(gpu, "C=32,sigma=1024", "C=32,sigma=n"));
  EXPECT_TRUE(mean_the_same(gpu, "C=32,inner=aosoa16", "C=32,inner=aos"));
  EXPECT_FALSE(mean_the_same(gpu, "C=32,inner=aosoa", "C=32,inner=aos"));
  EXPECT_TRUE(mean_the_same(gpu, "C=1,inner=aosoa", "C=1"));
  EXPECT_TRUE(mean_the_same(gpu, "kept=30", "kept=0"));
  EXPECT_TRUE(mean_the_same(gpu, "prefetch-x=0", "prefetch-x=9"));
  EXPECT_TRUE(mean_the_same(gpu, "reductions=1,passes=1", "reductions=1"));
  EXPECT_TRUE(mean_the_same(gpu, "loop=persistent,launch=overlapped", "loop=persistent"));
  EXPECT_FALSE(mean_the_same(gpu, "launch=overlapped", "launch=serial"));
  const SearchSpace cpu = SearchSpace::whole(subject, cpu_like(2));
  EXPECT_TRUE(mean_the_same(cpu, "threads=512,unroll=4,load=streaming", "blocks=3"));
  EXPECT_TRUE(mean_the_same(cpu, "schedule=full", "schedule=static"));
  EXPECT_TRUE(mean_the_same(cpu, "inner=soa,prefetch-matrix=0", "inner=soa"));
  EXPECT_FALSE(mean_the_same(cpu, "prefetch-matrix=0", "prefetch-matrix=512"));
  const SearchSpace one_thread = SearchSpace::whole(subject, cpu_like(1));
  EXPECT_TRUE(mean_the_same(one_thread, "schedule=dynamic,chunk=4", "schedule=static"));
}

TEST(Layouts, AreWhatAMatrixIsBuiltFor) {
  EXPECT_TRUE(parse_plan("Sl-32,threads=64,loop=graph").layout == parse_plan("Sl-32").layout);
  for (const char* other : {"C=16", "C=32,sigma=n", "C=32,T=2", "C=32,threshold=8",
                            "C=32,order=rcm", "C=32,columns=given", "C=32,use=scatter",
                            "C=32,inner=soa", "C=32,vector=soa", "C=32,stored=float"}) {
    EXPECT_FALSE(parse_plan(other).layout == parse_plan("Sl-32").layout) << other;
  }
  const Plan natural =
      natural_layout(parse_plan("K2,inner=soa,vector=soa,order=rcm,threads=512,blocks=3"));
  EXPECT_EQ(natural, parse_plan("CSR,threads=512,blocks=3"));
}

TEST(Objectives, HaveNames) {
  for (const std::string_view objective_name : objective_names()) {
    const Objective objective = parse_objective(objective_name);
    EXPECT_EQ(parse_objective(name(objective)), objective);
  }
  try {
    parse_objective("speed");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what())
                  .find("product cg bicgstab minres gmres cocg cocr cr bicgstab2 fgmres"),
              std::string::npos);
  }
}

}  // namespace
