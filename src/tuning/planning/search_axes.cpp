// The axes of the two spaces. Bounds are those that the device reports.
#include <algorithm>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tuning/search_space.hpp"

namespace heddle {

namespace {

bool is_accepted(const std::string& settings) {
  try {
    constexpr Index lanes = 32;  // enough room for T
    parse_plan(settings, Plan{.layout = {.lanes = lanes}});
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All of unit * 2^i and unit * 3 * 2^i up to a bound, ascending.
std::vector<int> doublings(int unit, int bound) {
  std::vector<int> values;
  for (const int factor : {1, 3}) {
    for (long long value = static_cast<long long>(unit) * factor; value <= bound; value *= 2) {
      values.push_back(static_cast<int>(value));
    }
  }
  std::sort(values.begin(), values.end());
  return values;
}

/// An axis of one key, with those of the values that a plan accepts.
Axis axis_of(std::string name, const std::string& key, const std::vector<int>& values) {
  Axis axis{std::move(name), {}, true};
  for (const int value : values) {
    const std::string setting = key + "=" + std::to_string(value);
    if (is_accepted(setting)) axis.choices.push_back(setting);
  }
  return axis;
}

Axis threads_of_block(const std::vector<int>& threads) {
  return axis_of("threads a block", "block-size", threads);
}
/// The choices of Mueller-Roemer et al. 2020, section 4.3.
std::vector<int> doublings_of_warp(const DeviceProperties& device) {
  return doublings(device.warp, device.threads_of_block);
}
/// And all multiples of a warp up to eight, as in Wong et al. 2015, section 6.
std::vector<int> multiples_of_warp(const DeviceProperties& device) {
  std::vector<int> threads = doublings_of_warp(device);
  for (const int warps : {5, 7}) {
    if (warps * device.warp <= device.threads_of_block) threads.push_back(warps * device.warp);
  }
  std::sort(threads.begin(), threads.end());
  return threads;
}
std::vector<int> blocks_of_multiprocessor(const DeviceProperties& device) {
  return doublings(1, device.blocks_of_multiprocessor);
}

/// Defaults of plans on a device where no axis says otherwise.
Plan base_of(const TuningSubject& subject, const DeviceProperties& device) {
  Plan base;
  if (subject.rows != subject.columns) base.layout.basis = BasisUse::user;
  if (!device.gpu) return base;
  // A block at a time, as in Mueller-Roemer et al. 2020, section 4.2.
  base.schedule.chunk = 1;
  if (!subject.objective.is_product()) base.loop.form = LoopForm::graph;
  return base;
}

/// True if a matrix of that size leaves its cache before it is read again.
bool streams(const TuningSubject& subject, const DeviceProperties& device) {
  const double bytes = static_cast<double>(subject.entries) *
                       (subject.entry_bytes + static_cast<double>(sizeof(Index)));
  return 2 * bytes > static_cast<double>(device.last_cache);
}

bool admits(const AnyMatrix& matrix, StoredScalar exact, int threads) {
  try {
    [[maybe_unused]] const AnyOperator built(matrix, Plan{.layout = {.stored = exact}},
                                             Device::cpu(threads));
    return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_plan && error.kind() != ErrorKind::memory) throw;
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

Axis exact_copies(const std::vector<StoredScalar>& exact) {
  Axis axis{"exact copy", {"iteration-precision=full"}};
  for (const StoredScalar kept : exact) {
    axis.choices.push_back("iteration-precision=" + std::string(name(kept)));
  }
  return axis;
}

}  // namespace

TuningSubject tuning_subject(const AnyMatrix& matrix, Objective objective, int threads) {
  TuningSubject subject{.rows = matrix.rows(),
                        .columns = matrix.columns(),
                        .entries = matrix.entries(),
                        .entry_bytes = matrix.entry_bytes(),
                        .scalar_bytes = matrix.precision() == Precision::single_precision ? 4 : 8,
                        .objective = objective};
  if (objective.is_product()) return subject;
  for (const StoredScalar kept : {StoredScalar::dictionary, StoredScalar::unit}) {
    if (admits(matrix, kept, threads)) subject.exact.push_back(kept);
  }
  return subject;
}

SearchSpace SearchSpace::papers(const TuningSubject& subject, const DeviceProperties& device) {
  std::vector<Axis> axes = {
      {"outer layout",
       {"C=1,sigma=1,threshold=0", "C=n,sigma=1,threshold=0", "C=16,sigma=1,threshold=0",
        "C=32,sigma=1,threshold=0", "C=32,sigma=n,threshold=0", "C=32,sigma=n,threshold=8"}},
      {"entry layout", {"entry-layout=aos", "entry-layout=soa"}},
      {"vector layout", {"vector-layout=aos", "vector-layout=soa"}},
      {"schedule", {"schedule=static", "schedule=dynamic"}}};
  if (device.gpu) {
    axes[1].choices.emplace_back("entry-layout=aosoa");
    axes.push_back(threads_of_block(multiples_of_warp(device)));
    axes.push_back(axis_of("blocks a multiprocessor", "blocks", blocks_of_multiprocessor(device)));
  } else {
    axes.push_back(axis_of("chunk", "chunk", {1, 4, 16, 64}));
    axes.push_back(axis_of("prefetch of x", "prefetch-x", {0, 12, 24, 48, 96}));
    axes.push_back(
        axis_of("prefetch of the matrix", "prefetch-matrix", {0, 1024, 2048, 4096, 8192}));
  }
  return {base_of(subject, device), std::move(axes), subject, device};
}

SearchSpace SearchSpace::whole(const TuningSubject& subject, const DeviceProperties& device) {
  const bool is_square = subject.rows == subject.columns;
  const MethodInfo* const method = subject.objective.method;
  Plan base = base_of(subject, device);
  const Axis outer{"outer layout", {"C=1", "C=8", "C=16", "C=32", "C=64", "C=n"}};
  const Axis inner{
      "entry layout",
      {"entry-layout=aos", "entry-layout=soa", "entry-layout=aosoa", "entry-layout=aosoa16"}};
  const Axis vector{"vector layout", {"vector-layout=aos", "vector-layout=soa"}};
  const Axis window{
      "window of the sort", {"sigma=1", "sigma=256", "sigma=1024", "sigma=4096", "sigma=n"}, true};
  std::vector<Axis> axes;  // the ones with most effect first
  if (device.gpu) {
    base.schedule.kind = ScheduleKind::full;
    axes = {outer, axis_of("threads a row", "threads-per-row", {1, 2, 4, 8, 16, 32}), inner};
    if (method != nullptr && method->has_one_kernel) {
      axes.push_back({"loop", {"loop=graph", "loop=persistent", "loop=replay"}});
    } else if (method != nullptr) {
      axes.push_back({"loop", {"loop=graph", "loop=replay"}});
    }
    axes.push_back(window);
    axes.push_back(vector);
    axes.push_back({"schedule", {"schedule=full", "schedule=static", "schedule=dynamic"}});
    axes.push_back(threads_of_block(doublings_of_warp(device)));
    // The maximum number that fits comes last.
    std::vector<int> blocks = blocks_of_multiprocessor(device);
    blocks.push_back(0);
    axes.push_back(axis_of("blocks a multiprocessor", "blocks", blocks));
    axes.push_back(axis_of("unrolling", "unroll", {1, 2, 3, 4, 6, 8}));
    Axis load{"load",
              {"load=default,l2-percent=0", "load=streaming,l2-percent=0",
               "load=no-allocate,l2-percent=0", "load=evict-first,l2-percent=0"}};
    if (streams(subject, device)) {
      for (const char* kept : {"15", "30", "50"}) {
        load.choices.push_back(std::string("load=evict-first,l2-percent=") + kept);
      }
    }
    axes.push_back(std::move(load));
    axes.push_back({"bits of a column", {"column-bits=32", "column-bits=16"}});
    axes.push_back({"threshold", {"threshold=0", "threshold=4", "threshold=8", "threshold=16"}});
    if (method != nullptr) axes.push_back({"launch", {"launch=serial", "launch=overlapped"}});
    if (method != nullptr && method->single_reduction != nullptr) {
      axes.push_back({"conjugate gradient", {"cg=standard", "cg=single-reduction"}});
    }
    if (method != nullptr && !method->has_ring_coefficients) {
      axes.push_back({"fused updates", {"fused-updates=off", "fused-updates=on"}});
    }
    axes.push_back(axis_of("chunk", "chunk", {1, 4, 16}));
  } else {
    axes = {outer,
            inner,
            vector,
            axis_of("prefetch of the matrix", "prefetch-matrix",
                    {0, 512, 1024, 2048, 4096, 8192, 16384}),
            axis_of("prefetch of x", "prefetch-x", {0, 6, 12, 24, 48, 96, 192}),
            {"schedule", {"schedule=static", "schedule=dynamic"}},
            window,
            axis_of("chunk", "chunk", {1, 4, 16, 64})};
  }
  constexpr std::ptrdiff_t after_layouts = 3;
  if (!subject.exact.empty()) {
    axes.insert(axes.begin() + after_layouts, exact_copies(subject.exact));
  }
  if (is_square) {
    axes.push_back({"order", {"order=natural", "order=rcm"}});
    axes.push_back({"basis", {"basis=permuted", "basis=user"}});
  }
  axes.push_back({"columns", {"columns=sorted", "columns=given"}});
  return {base, std::move(axes), subject, device};
}

}  // namespace heddle
