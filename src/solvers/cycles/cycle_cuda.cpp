#include "cycle_cuda.hpp"

#include <algorithm>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "base/cuda_call.hpp"
#include "cycle_program.hpp"
#include "cycle_steps_cuda.hpp"
#include "heddle/row_preconditioner.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Levels of up to this many rows are cycled in one kernel. Above it, a step by all multiprocessors
/// takes longer than a kernel of its own with the way to the next one, since blocks synchronize
/// after each step (docs/inside/tried.md).
constexpr Index max_rows_in_one = 400;
/// Bytes of steps that this kernel keeps in shared memory.
constexpr std::size_t max_bytes_of_steps = 45056;

struct Launch {
  cudaKernel_t kernel = nullptr;
  device::CycleStep step{};  // if the kernel is for one step
  LaunchShape shape;
  bool is_one = false;
};

CycleForm form_of(const PlacedStep& step) {
  CycleForm form{step.product->program(device::store_scaled), std::nullopt};
  form.product.plan.schedule = {.kind = ScheduleKind::full};
  if (step.rows != nullptr) form.rows = step.rows->text();
  return form;
}

Offset lanes_of(const PlacedStep& step) {
  const SlicedPattern& A = step.product->pattern();
  return step.multiplies ? Offset(A.slices()) * A.C : Offset(A.rows);
}

unsigned blocks_for(Offset lanes, int threads) {
  return static_cast<unsigned>(std::max<Offset>(1, (lanes + threads - 1) / threads));
}

}  // namespace

struct Cycle::Parts {
  Parts(std::span<const CycleLevel> levels, const Device& device)
      : listing(levels, device), device(device) {
    const Stream& stream = device.stream();
    may_overlap = levels.front().matrix->plan().loop.launch == KernelLaunch::overlapped &&
                  architecture(stream) >= 90;
    const OnGpu here(stream);
    const auto& steps = listing.steps();
    // Levels below a small one are smaller still: their steps follow one another.
    const auto first = std::find_if(steps.begin(), steps.end(), [&](const PlacedStep& step) {
      return is_small(levels, step.level);
    });
    auto begin = first;
    auto end = std::find_if(begin, steps.end(),
                            [&](const PlacedStep& step) { return !is_small(levels, step.level); });
    while (static_cast<std::size_t>(end - begin) * sizeof(device::CycleStep) > max_bytes_of_steps) {
      const int level = begin->level;
      while (begin != end && begin->level == level) ++begin;
      while (end != begin && (end - 1)->level == level) --end;
    }
    if (end - begin < 2) begin = end;
    for (auto step = steps.begin(); step != begin; ++step) add_one(*step);
    if (begin != end) add_several({begin, end});
    for (auto step = end; step != steps.end(); ++step) add_one(*step);
    load(stream);
  }

  /// False if each row takes several warps: a kernel for each step has more blocks.
  static bool is_small(std::span<const CycleLevel> levels, int number) {
    const CycleLevel& level = levels[static_cast<std::size_t>(number)];
    const Product& product = level.inverse != nullptr ? *level.inverse : *level.matrix;
    const Index rows = product.pattern().rows;
    return rows <= max_rows_in_one &&
           warps_of_row(product.program(device::store_scaled), rows) == 1;
  }

  void add_one(const PlacedStep& step) {
    const CycleForm form = form_of(step);
    const int warps =
        step.multiplies ? warps_of_row(form.product, step.product->pattern().rows) : 1;
    const int threads = warps > 1 ? 32 * warps : form.product.plan.gpu.block_size;
    Launch launch;
    launch.step = step.step;
    launch.shape.threads = static_cast<unsigned>(threads);
    launch.shape.blocks = blocks_for(lanes_of(step) * warps, threads);
    launch.shape.overlapped = may_overlap && !launches.empty();
    launch.is_one = true;
    launches.push_back(launch);
    sources.push_back(step_source(form, warps));
  }

  void add_several(std::span<const PlacedStep> steps) {
    std::vector<CycleForm> forms;
    std::map<std::string, int> numbers;
    std::vector<device::CycleStep> several;
    Offset lanes = 0;
    for (const PlacedStep& step : steps) {
      CycleForm form = form_of(step);
      // Steps with one matrix have one form, whether they smooth or not.
      for (const PlacedStep& other : steps) {
        if (other.product == step.product && other.rows != nullptr) form.rows = other.rows->text();
      }
      const auto [known, is_new] = numbers.try_emplace(
          plan_text(form.product) + (form.rows ? form.rows->type : ""), int(forms.size()));
      if (is_new) forms.push_back(std::move(form));
      several.push_back(step.step);
      several.back().form = known->second;
      lanes = std::max(lanes, lanes_of(step));
    }
    in_one = Array<device::CycleStep>(std::span<const device::CycleStep>(several), device);
    Launch launch;
    launch.shape.threads = device::threads_of_cycle;
    launch.shape.blocks = blocks_for(lanes, device::threads_of_cycle);
    launch.shape.shared_bytes = static_cast<unsigned>(several.size() * sizeof(device::CycleStep));
    launch.shape.cooperative = true;
    launches.push_back(launch);
    sources.push_back(cycle_source(forms));
  }

  /// Compiles all texts, each once and in parallel.
  void load(const Stream& stream) {
    std::vector<std::future<void>> compiling;
    std::vector<const KernelSource*> distinct;
    for (const KernelSource& source : sources) {
      const bool is_known = std::ranges::any_of(
          distinct, [&](const KernelSource* other) { return other->text == source.text; });
      if (is_known) continue;
      distinct.push_back(&source);
      compiling.push_back(std::async(std::launch::async, [&] { load_kernels(source, stream); }));
    }
    for (auto& one : compiling) one.get();
    for (std::size_t i = 0; i < launches.size(); ++i) {
      Launch& launch = launches[i];
      launch.kernel =
          load_kernel(sources[i], launch.is_one ? "heddle_step" : "heddle_cycle", stream);
      if (!launch.is_one) limit_blocks(launch, stream);
    }
    sources.clear();
  }

  /// Limits blocks to those that run at once, one per multiprocessor: more synchronize later.
  void limit_blocks(Launch& launch, const Stream& stream) {
    const int resident =
        resident_blocks(launch.kernel, device::threads_of_cycle, launch.shape.shared_bytes, stream);
    if (resident == 0)
      throw Error(ErrorKind::internal, "multigrid: no block of its cycle fits on the GPU");
    launch.shape.blocks =
        std::min(launch.shape.blocks, static_cast<unsigned>(multiprocessors(stream)));
    flags = Array<unsigned long long>(launch.shape.blocks, device);
    round = Array<unsigned long long>(1, device);
  }

  CycleSteps listing;
  Device device;
  bool may_overlap = false;
  std::vector<Launch> launches;
  std::vector<KernelSource> sources;
  Array<device::CycleStep> in_one;
  Array<unsigned long long> flags, round;
};

Cycle::Cycle(std::span<const CycleLevel> levels, const Device& device)
    : parts_(std::make_unique<Parts>(levels, device)) {}
Cycle::~Cycle() = default;

void Cycle::apply(const void* r, void* z, const Stream& stream) const {
  const OnGpu here(stream);
  for (const Launch& one : parts_->launches) {
    if (one.is_one) {
      device::CycleStep step = one.step;
      device::fill_in(step, r, z);
      void* pointers[] = {&step};
      launch(one.kernel, one.shape, stream, pointers);
      continue;
    }
    device::CycleArguments arguments{
        parts_->in_one.data(), static_cast<int>(parts_->in_one.size()), r, z, parts_->flags.data(),
        parts_->round.data()};
    void* pointers[] = {&arguments};
    launch(one.kernel, one.shape, stream, pointers);
  }
}

long long Cycle::bytes_besides_products() const { return parts_->listing.bytes_besides_products(); }
int Cycle::products_with(const Product& product) const {
  const auto& steps = parts_->listing.steps();
  return static_cast<int>(std::ranges::count_if(
      steps, [&](const PlacedStep& step) { return step.multiplies && step.product == &product; }));
}

}  // namespace heddle::cuda
