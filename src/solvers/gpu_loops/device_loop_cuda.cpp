#include "device_loop_cuda.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "basis_cuda.hpp"
#include "fields/vector_operations_cuda.hpp"
#include "graph_loop_cuda.hpp"
#include "heddle/kernels/row_arguments.hpp"
#include "loop_body.hpp"
#include "loop_sums_cuda.hpp"
#include "queued_product_cuda.hpp"
#include "queued_systems_cuda.hpp"
#include "spmv/kernel_library_cuda.hpp"
#include "step_places_cuda.hpp"
#include "step_shape.hpp"

namespace heddle::cuda {

namespace {

using detail::MethodProgram, methods::Facts, methods::StepKind;

template <class S>
class DeviceLoop final : public detail::MethodLoop<S> {
 public:
  explicit DeviceLoop(DeviceLoopParts<S> parts)
      : parts_(std::move(parts)),
        program_(parts_.program),
        product_(make_queued_product(*parts_.matrix, product_of_loop(program_))),
        shape_(program_, product_->shape(), has_ranks(*parts_.matrix)),
        rows_(parts_.preconditioner.rows),
        graph_(parts_.device, parts_.form, parts_.systems.size()),
        tickets_(2, parts_.device),
        is_overlapped_(product_->plan().loop.launch == KernelLaunch::overlapped &&
                       !parts_.preconditioner.queue && can_overlap_sums(parts_.device.stream())),
        places_(program_,
                counts_of(program_, *product_, rows_ != nullptr, max_systems(), shape_.by_groups),
                max_systems(), parts_.device) {
    const bool is_bare = rows_ == nullptr && !parts_.preconditioner.queue && max_systems() == 1;
    if (product_->plan().loop.fused_updates && is_bare) {
      together_ = joined_updates(program_, shape_.walk, multiprocessors(parts_.device.stream()));
    }
    load();
    if (basis_storage().most > 0) basis_.emplace(program_, basis_storage(), shape_, parts_.device);
    if (together_.chunks_of_thread > 0) {
      packets_ = Array<device::Packet>(packets_of_meeting, parts_.device);
      round_ = Array<unsigned long long>(1, parts_.device);
    }
  }

  void run(std::span<const detail::RunOf<S>> systems,
           std::span<detail::RunResult<double>> results) override {
    std::array<const void*, std::size_t{3} * device::max_operands> fields;
    std::array<const RunLimits*, device::max_operands> limits;
    std::size_t count = 0;
    for (std::size_t k = 0; k < systems.size(); ++k) {
      limits[k] = systems[k].limits;
      fields[count++] = systems[k].x.data;
      fields[count++] = systems[k].r.data;
      fields[count++] = parts_.systems[static_cast<std::size_t>(systems[k].place)].work.data();
    }
    graph_.run(kernels_on(systems, parts_.form), {fields.data(), count},
               {limits.data(), systems.size()}, results);
  }
  void capture_run(const FieldView<S>& x, const FieldView<S>& r, device::LoopState* state,
                   const Stream& capturing) override {
    const detail::RunOf<S> system{0, x, r, nullptr};
    capture_while_it_runs(kernels_on({&system, 1}, LoopForm::graph), state, 1, capturing);
  }
  bool can_be_skipped() const override { return !has_foreign_work() && basis_storage().most == 0; }

 private:
  std::size_t max_systems() const { return parts_.systems.size(); }
  bool has_foreign_work() const {
    return !product_->ends_with_loop() || parts_.preconditioner.queue != nullptr;
  }
  const detail::BasisStorage& basis_storage() const { return parts_.systems.front().basis; }

  bool joins(const Facts& facts, int i) const {
    return rows_ != nullptr && i >= 0 && joins_next(program_, facts, i);
  }
  bool is_together(bool start, int i) const {
    return !start && together_.chunks_of_thread > 0 && i == together_.first;
  }

  /// Compiles the missing kernels in parallel.
  void load() {
    const Stream& stream = parts_.device.stream();
    const auto most = static_cast<int>(max_systems());
    const auto programs =
        step_programs(program_, {sizeof(S), shape_.is_contiguous, rows_ != nullptr,
                                 product_->parts(most), together_.chunks_of_thread, most,
                                 basis_storage().scalar_bytes, shape_.by_groups});
    const std::vector<std::string> joined =
        rows_ != nullptr ? joined_steps(program_) : std::vector<std::string>{};
    std::optional<KernelSource> with_rows;
    if (!joined.empty())
      with_rows = preconditioned_step_source(rows_->text(), program_, product_->parts(most), most,
                                             shape_.by_groups);
    std::vector<std::future<void>> compiling;
    const auto compile = [&](const KernelSource& source) {
      compiling.push_back(std::async(std::launch::async, [&] { load_kernels(source, stream); }));
    };
    if (with_rows) compile(*with_rows);
    for (const StepProgram& program : programs) compile(program.source);
    product_->prepare_loop(most);
    for (auto& compiled : compiling) compiled.get();

    for (const StepProgram& program : programs) {
      kernels_[program.name] = load_kernel(program.source, step_kernel, stream);
    }
    for (const std::string& name : joined) {
      kernels_[name] = load_kernel(*with_rows, ("heddle_" + name).c_str(), stream);
    }
  }

  int iterations_of_body() const {
    if (parts_.form == LoopForm::stepped) return 1;
    return cuda::iterations_of_body(program_.iteration, has_foreign_work(), basis_storage().most,
                                    shape_.by_groups);
  }
  void queue_iterations(int count, const Stream& stream) {
    for (int i = 0; i < count; ++i) {
      queue(program_.iteration, false, stream);
      for (std::size_t k = 0; k < queued_.count; ++k) {
        for (const auto& [a, b] : program_.swaps) std::swap(field(a, k), field(b, k));
      }
      queued_.turn = 1 - queued_.turn;
    }
  }

  /// After the end of a run the rest of a body would only do the preconditioner's own work.
  void queue_body(bool in_graph, const Flags& ends, const Stream& stream) {
    const bool ends_early =
        in_graph && parts_.preconditioner.queue != nullptr && !basis_ && !shape_.by_groups;
    queue_iterations(ends_early ? 1 : iterations_of_body(), stream);
    if (!ends_early) return;
    capture_if_any_is_zero(stream, ends, [&](const Stream& rest) {
      queued_.is_first = true;
      queue_iterations(iterations_of_body() - 1, rest);
    });
  }

  /// Valid while `systems` exist.
  LoopKernels kernels_on(std::span<const detail::RunOf<S>> systems, LoopForm form) {
    return {[this, systems, form](device::LoopState* states, const Stream& stream) {
              begin(systems, states);
              queue(program_.start, true, stream);
              places_.carry();
              queue_iterations(iterations_before_body(form, basis_storage().most), stream);
            },
            [this, systems, form](device::LoopState* states, const Stream& stream) {
              if (parts_.form != LoopForm::stepped) {
                // A separate graph begins with the body.
                begin(systems, states);
                queued_.side = program_.start.decisions() % 2;
                places_.carry();
              }
              queue_body(form == LoopForm::graph, ends_of(states, systems.size()), stream);
            },
            [this, systems](device::LoopState* states, const Stream& stream) {
              if (basis_) form_solution(systems, states, stream);
            }};
  }

  void begin(std::span<const detail::RunOf<S>> systems, device::LoopState* states) {
    queued_.begin(systems, parts_.systems, states, places_.stride());
  }
  FieldView<S>& field(int k, std::size_t system = 0) { return queued_.field(k, system); }
  bool overlaps() { return is_overlapped_ && !std::exchange(queued_.is_first, false); }
  int turn(bool start) const { return start ? 0 : queued_.turn; }

  void queue(const Facts& facts, bool start, const Stream& stream) {
    for (int i = 0; i < facts.steps; ++i) {
      switch (facts.step[i].kind) {
        case StepKind::product:
          queue_product(facts, start, i, stream);
          break;
        case StepKind::precondition:
          queue_preconditioner(facts, start, i, stream);
          break;
        case StepKind::update:
          queue_update(facts, start, i, stream);
          if (is_together(start, i)) i = together_.second;
          break;
        case StepKind::orthogonalize:
          basis_->orthogonalize(
              kernels_, start, i, {queued_.states, queued_.side}, field(facts.step[i].in).data,
              field(facts.step[i].out).data, field(program_.preconditioned_combination).data,
              [this] { return overlaps(); }, stream);
          queued_.side = 1 - queued_.side;
          break;
        case StepKind::decide:
          if (i + 1 == facts.steps) queue_decision(facts, start, stream);
          break;
      }
    }
  }

  void queue_product(const Facts& facts, bool start, int i, const Stream& stream) {
    StepPlace& place = places_.at(start, i);
    std::array<device::ProductOperands, device::max_operands> operands;
    for (std::size_t k = 0; k < queued_.count; ++k) {
      operands[k] = queued_.operands_of(facts, i, place.partials[turn(start)], k);
    }
    typename QueuedProduct<S>::Call call;
    call.systems = {operands.data(), queued_.count};
    call.max_systems = static_cast<int>(max_systems());
    call.ticket = tickets_.data();
    call.overlapped = overlaps();
    place.left[turn(start)] = product_->multiply(call, stream);
  }

  void queue_preconditioner(const Facts& facts, bool start, int i, const Stream& stream) {
    const methods::StepFacts& step = facts.step[i];
    if (step.in != step.out && !joins(facts, i - 1)) {
      for (std::size_t k = 0; k < queued_.count; ++k) {
        const FieldView<S>&in = field(step.in, k), out = field(step.out, k);
        if (rows_ != nullptr) {
          rows_->apply(in.data, out.data, stream, queued_.states + k, overlaps());
        } else {
          parts_.preconditioner.queue(in, out, stream);
        }
      }
    }
    if (sums_alone(program_, facts, i, rows_ != nullptr)) {
      launch_steps("sum_" + name_of_step(start, i), arguments_of(places_.at(start, i), start),
                   shape_.blocks, stream);
      places_.at(start, i).leave(turn(start), shape_.partials());
    }
  }

  /// x += M^-1 (V y), after a run.
  void form_solution(std::span<const detail::RunOf<S>> systems, device::LoopState* states,
                     const Stream& stream) {
    // If iterations were launched one by one, their number may have been odd.
    if (parts_.form != LoopForm::stepped) {
      begin(systems, states);
      queued_.side = program_.start.decisions() % 2;
    }
    const FieldView<S>& x = field(0);
    const FieldView<S>&v = field(program_.combination),
          &z = field(program_.preconditioned_combination);
    const StateSide side{states, queued_.side};
    if (!program_.preconditioned || program_.is_flexible) {
      return basis_->combine(kernels_, side, x.data, stream);
    }
    basis_->combine(kernels_, side, v.data, stream);
    if (rows_ != nullptr) {
      rows_->apply(v.data, z.data, stream, nullptr, false);
    } else {
      parts_.preconditioner.queue(v, z, stream);
    }
    axpby<Ring::real, S>(Coefficient<Ring::real, S>{{S(1)}}, z, Coefficient<Ring::real, S>{{S(1)}},
                         x, stream);
  }

  void queue_update(const Facts& facts, bool start, int i, const Stream& stream) {
    StepPlace& place = places_.at(start, i);
    const bool decides = facts.decides_before(i);
    device::StepArguments arguments = arguments_of(place, start);
    const Index rows = product_->shape().size;
    const unsigned blocks = is_together(start, i) ? together_.blocks
                            : joins(facts, i)     ? blocks_over_rows(rows)
                                                  : shape_.blocks;
    if (decides) add_sources(facts, start, i - 1, blocks, arguments, stream);
    const std::string name = name_of_step(start, i);
    if (is_together(start, i)) {
      device::JoinedArguments joined{arguments, {packets_.data(), round_.data()}};
      joined.step.walk = together_.walk;
      queued_.is_first = false;
      void* pointers[] = {&joined};
      launch(kernels_.at(name),
             {.blocks = together_.blocks, .threads = device::threads_of_step, .cooperative = true},
             stream, pointers);
    } else if (joins(facts, i)) {
      queued_.template launch<device::PreconditionedStepArguments>(
          kernels_.at(name),
          {.blocks = blocks, .threads = device::threads_of_rows, .overlapped = overlaps()},
          [&](std::size_t k) -> device::PreconditionedStepArguments {
            return {queued_.of_system(arguments, k), rows_->data(), rows};
          },
          stream);
      place.leave(turn(start), blocks);
    } else {
      launch_steps(name, arguments, blocks, stream);
      place.leave(turn(start), shape_.partials());
    }
    if (decides) queued_.side = 1 - queued_.side;
  }

  void queue_decision(const Facts& facts, bool start, const Stream& stream) {
    device::StepArguments arguments = arguments_of({}, start);
    add_sources(facts, start, facts.steps - 1, 1, arguments, stream);
    launch_steps("decide", arguments, 1, stream);
    queued_.side = 1 - queued_.side;
  }

  /// Finds the partial sums that the decision at step `decision` adds, in each of `blocks` blocks.
  void add_sources(const Facts& facts, bool start, int decision, unsigned blocks,
                   device::StepArguments& to, const Stream& stream) {
    const methods::Pending pending = methods::pending_of(facts, decision, !start);
    int count = 0;
    for (int k = 0; k < pending.count; ++k) {
      const int step = pending.step[k];
      // The sums of a joined step lie with its update.
      const bool lies_before = joins(facts, step - 1);
      if (lies_before && facts.step[step - 1].sums > 0) continue;
      StepPlace& place = places_.at(start, lies_before ? step - 1 : step);
      if (place.numbers == 0) continue;
      const int from = start ? 0 : step > decision ? 1 - queued_.turn : queued_.turn;
      const device::PartialSums& left = place.left[from];
      if (shape_.by_groups && count == 0) to.ranks = sums_of_next_kernel(stream);
      const device::PartialSums sums =
          to.ranks.group_at != nullptr ? left
          : shape_.by_groups
              ? joined_by_ranks(place.numbers, left.parts, place.partials[from], place.total[from],
                                stream)
              : for_every_block(place.numbers, left, blocks, place.total[from],
                                {static_cast<unsigned>(queued_.count), places_.stride()},
                                is_overlapped_ && !queued_.is_first, stream);
      if (sums.partials != left.partials) queued_.is_first = false;
      to.before[count++] = sums;
    }
  }

  /// Arguments for the first system.
  device::StepArguments arguments_of(const StepPlace& place, bool start) const {
    device::StepArguments arguments{};
    arguments.walk = shape_.walk;
    arguments.state = queued_.states;
    arguments.side = queued_.side;
    arguments.partials = place.partials[turn(start)];
    return queued_.of_system(arguments, 0);
  }

  /// `arguments`: of the first system.
  void launch_steps(const std::string& name, const device::StepArguments& arguments,
                    unsigned blocks, const Stream& stream) {
    queued_.template launch<device::StepArguments>(
        kernels_.at(name),
        {.blocks = blocks, .threads = device::threads_of_step, .overlapped = overlaps()},
        [&](std::size_t k) { return queued_.of_system(arguments, k); }, stream);
  }

  DeviceLoopParts<S> parts_;
  const MethodProgram& program_;
  std::unique_ptr<QueuedProduct<S>> product_;
  StepShape<S> shape_;
  const RowPreconditioner* rows_;  // whose work is joined with updates; may be null
  GraphLoop graph_;
  Array<unsigned> tickets_;  // for a dynamic schedule
  bool is_overlapped_;
  StepPlaces places_;
  JoinedUpdates together_;
  std::optional<DeviceBasis<S>> basis_;
  Array<device::Packet> packets_;
  Array<unsigned long long> round_;
  std::map<std::string, cudaKernel_t> kernels_;
  QueuedSystems<S> queued_;
};

}  // namespace

template <class S>
std::unique_ptr<detail::MethodLoop<S>> make_device_loop(DeviceLoopParts<S> parts) {
  return std::make_unique<DeviceLoop<S>>(std::move(parts));
}

template <class S>
Workspace workspace_of_device_loop(const MethodProgram& program, const LinearOperator<S>& matrix,
                                   bool joins, int max_basis, std::size_t systems) {
  const auto product = make_queued_product(matrix, product_of_loop(program));
  const bool shares = has_ranks(matrix);
  const auto groups = shares ? std::optional(groups_of(matrix.rows())) : std::nullopt;
  const Offset of_basis =
      max_basis > 0 ? DeviceBasis<S>::doubles(program, max_basis, groups) : Offset(0);
  const auto counts = counts_of(program, *product, joins, systems, shares);
  const Offset doubles = StepPlaces::doubles(program, counts) + of_basis;
  const bool meets = product->plan().loop.fused_updates;
  const std::size_t meeting = meets ? packets_of_meeting * sizeof(device::Packet) : 0;
  return {0, doubles * static_cast<long long>(systems * sizeof(double)) +
                 static_cast<long long>(meeting) + LoopRun::allocated_bytes(systems)};
}

#define HEDDLE_DEVICE_LOOPS(S)                                                                \
  template std::unique_ptr<detail::MethodLoop<S>> make_device_loop(DeviceLoopParts<S>);       \
  template Workspace workspace_of_device_loop(const MethodProgram&, const LinearOperator<S>&, \
                                              bool, int, std::size_t);
HEDDLE_DEVICE_LOOPS(float)
HEDDLE_DEVICE_LOOPS(double)
#undef HEDDLE_DEVICE_LOOPS

}  // namespace heddle::cuda
