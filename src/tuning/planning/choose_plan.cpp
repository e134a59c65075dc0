#include "heddle/choose_plan.hpp"

#include <algorithm>
#include <bit>

#include "heddle/detail/reduction.hpp"
#include "solvers/gpu_loops/block_shares.hpp"
#include "spmv/row_lengths.hpp"

namespace heddle {

namespace {

/// Distribution of the lengths of rows.
struct Lengths {
  double mean = 0;
  Index longest = 0;
};

Lengths lengths_of(const PatternView& pattern) {
  Lengths lengths;
  for (Index row = 0; row < pattern.rows; ++row) {
    lengths.longest = std::max(lengths.longest, pattern.length(row));
  }
  if (pattern.rows > 0) {
    lengths.mean = static_cast<double>(pattern.entries()) / static_cast<double>(pattern.rows);
  }
  return lengths;
}

// Constants that sweeps and searches found near the best for each size and entry
// (docs/inside/tried.md). Sizes related to a memory are in proportion to that of the measured GPU.
constexpr int warp = 32, piece = 16;
constexpr Index few_entries = 8;  // in a row

/// A matrix as the rule sees it.
struct Sizes {
  Lengths lengths;
  double rows, matrix_bytes;
  int entry_bytes;
  int vector_bytes;   // approximate bytes of a row of x
  int max_row_bytes;  // upper bound of the same
  const PatternView& pattern;
  const NearMemory& memory;
  double l2_scale;  // this GPU's L2 over that of the measured one
  bool long_rows, streams, large_entry;

  /// `entry`: bytes as they are read.
  Sizes(const PatternView& rows_of, int entry, const EntrySize& own, const NearMemory& near)
      : lengths(lengths_of(rows_of)),
        rows(std::max(1.0, static_cast<double>(rows_of.rows))),
        matrix_bytes(static_cast<double>(rows_of.entries()) *
                     (entry + static_cast<double>(sizeof(Index)))),
        entry_bytes(entry),
        vector_bytes(own.vector_bytes),
        max_row_bytes(own.max_vector_bytes),
        pattern(rows_of),
        memory(near),
        l2_scale(near.last_cache / NearMemory().last_cache),
        long_rows(lengths.mean > 20),
        large_entry(entry > 2 * piece) {
    // Bytes that stay in L2 from one product to the next; fewer next to x as long rows read it.
    constexpr double bytes_in_l2 = 40e6, bytes_in_l2_of_long_rows = 30e6;
    streams = matrix_bytes > l2_scale * (long_rows ? bytes_in_l2_of_long_rows : bytes_in_l2);
  }
};

/// Assigns enough threads for the GPU, and no more than a row has entries for; or one thread a row,
/// and the threshold from which rows get more.
void share_out_rows(const Sizes& matrix, Plan& plan) {
  constexpr double threads_to_fill = 390e3, threads_to_fill_with_large = 200e3;
  constexpr double very_few_rows = 2048, few_rows = 8192, rows_to_occupy = 1 << 14;
  const Lengths& lengths = matrix.lengths;
  double wanted = threads_to_fill / matrix.rows;
  if (!matrix.streams && matrix.large_entry) wanted = threads_to_fill_with_large / matrix.rows;
  if (!matrix.streams && matrix.long_rows) wanted *= 2;
  double of_entries = matrix.large_entry ? 1.0 : 0.7;
  if (!matrix.long_rows && matrix.rows < (matrix.large_entry ? very_few_rows : few_rows)) {
    of_entries = 1.25;
  }
  const auto floor = [](double value) {
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(1.0, value))));
  };
  plan.layout.threads_per_row = std::min({floor(wanted), floor(of_entries * lengths.mean), warp});

  // A few rows far longer than the others get a warp of their own, the others a thread each.
  constexpr double far_longer = 8;
  if (lengths.longest > far_longer * std::max(1.0, lengths.mean) && lengths.longest > 2 * warp) {
    plan.layout.threads_per_row = 1;
    plan.layout.threshold = few_entries;
  }
  // Where rows have few small entries, rows of up to eight take a thread each once there are enough
  // of them to occupy every multiprocessor: threads that share a row wait for one another.
  if (!matrix.large_entry && matrix.rows >= rows_to_occupy && plan.layout.threads_per_row > 1 &&
      lengths.mean <= few_entries) {
    plan.layout.threads_per_row = 1;
    if (lengths.longest > few_entries) plan.layout.threshold = few_entries;
  }
}

/// True if the vectors of BiCGStab, which keeps more than any other loop, fit in shared memory.
bool vectors_fit(const Sizes& matrix, const Plan& plan) {
  return vectors_fit_in_shared(cuda::PersistentMethod::bicgstab, matrix.pattern, plan,
                               matrix.max_row_bytes, matrix.memory.multiprocessors,
                               matrix.memory.shared_memory_of_block);
}

/// Adapts a plan for products to iterations in one kernel: these read the matrix from shared memory
/// or L2, each block for a few hundred rows, and wait for the slowest block every time.
Plan for_one_kernel(const Sizes& matrix, Plan plan) {
  const double multiprocessors = matrix.memory.multiprocessors;
  if (matrix.large_entry) {
    // Next to the loop's own data; lanes far apart cost nothing in shared memory.
    constexpr double share_for_matrix = 2.0 / 3;
    const double shared_memory = multiprocessors * matrix.memory.shared_memory_of_block;
    if (matrix.matrix_bytes <= share_for_matrix * shared_memory) {
      plan.layout.inner = InnerLayout::aos;
    }
    constexpr double rows_to_share = 5000, max_ratio = 3;  // the longest row over the mean
    if (matrix.rows < rows_to_share) {
      const bool lengths_are_similar = matrix.lengths.longest <= max_ratio * matrix.lengths.mean;
      if (lengths_are_similar && plan.layout.threshold == 0) plan.layout.sort_window = 1;
      return plan;
    }
    // Blocks of few rows fill a multiprocessor once their threads are enough for it, and rows that
    // are near one another in x are better left there.
    constexpr double threads_to_fill = 144;  // per multiprocessor
    const double entries = matrix.rows * matrix.lengths.mean;
    const bool fills = entries / few_entries >= threads_to_fill * multiprocessors;
    const Index of_a_thread = fills ? few_entries : few_entries / 2;
    plan.layout.lanes = warp / 2;
    plan.layout.sort_window = 256;
    plan.layout.threads_per_row = 1;
    plan.layout.threshold = matrix.lengths.longest > of_a_thread ? of_a_thread : 0;
    return plan;
  }
  if (matrix.entry_bytes <= piece) return plan;
  // For rows of few entries, neighbours are worth more than steps without padding.
  const bool few_each = matrix.lengths.longest <= few_entries;
  if (plan.layout.threads_per_row == 1 && few_each) plan.layout.sort_window = 1;
  // Where a thread steps from row to row in shared memory, component planes leave no bank idle.
  constexpr double rows_of_planes = 320;  // per multiprocessor
  if (matrix.rows >= rows_of_planes * multiprocessors) plan.layout.vector = VectorLayout::soa;
  return plan;
}

/// Chooses one kernel for all iterations while the matrix stays in shared memory or in L2.
void choose_loop(const Sizes& matrix, Objective objective, Plan& plan) {
  constexpr double max_bytes = 45e6;
  if (!objective.is_product() && !objective.method->has_one_kernel) return;
  if (matrix.matrix_bytes > matrix.l2_scale * max_bytes) return;
  if (!vectors_fit(matrix, plan)) {
    // The vectors may fit where the shortest rows are not gathered together.
    Plan windows = plan;
    windows.layout.sort_window = 256;
    if (objective.is_product() || !vectors_fit(matrix, windows)) return;
    plan = windows;
  }
  plan.loop.form = LoopForm::persistent;
  if (objective.is_product()) return;
  const Plan own = for_one_kernel(matrix, plan);
  if (vectors_fit(matrix, own)) plan = own;
}

// Slices of a warp, in the permuted basis.
Plan plan_for_entries(const PatternView& pattern, int entry_bytes, const EntrySize& own,
                      Objective objective, const NearMemory& memory) {
  const Sizes matrix(pattern, entry_bytes, own, memory);
  Plan plan;
  plan.layout.lanes = warp;
  plan.schedule.kind = ScheduleKind::full;

  // Entries of an odd number of floats leave pieces of 16 bytes half empty; where L2 holds the
  // matrix, planes of components are read faster.
  const bool in_planes = entry_bytes == 2 * piece || (entry_bytes % 8 != 0 && !matrix.streams);
  plan.layout.inner = entry_bytes <= piece ? InnerLayout::aos
                      : in_planes          ? InnerLayout::aosoa_component
                                           : InnerLayout::aosoa_16;
  share_out_rows(matrix, plan);

  // Sorted rows share steps without padding; beyond some size, rows that share parts of x must stay
  // neighbours.
  constexpr Index rows_that_fit = 1 << 20;
  constexpr double bytes_that_fit = 20e6;  // x for large entries, which read parts of sectors
  constexpr int max_systems = 8;
  const double bytes_of_x =
      matrix.vector_bytes * matrix.rows * std::clamp(objective.systems, 1, max_systems);
  const bool fits = pattern.rows <= rows_that_fit &&
                    (!matrix.large_entry || bytes_of_x <= matrix.l2_scale * bytes_that_fit);
  const bool narrow = matrix.long_rows || matrix.large_entry;
  plan.layout.sort_window = fits     ? (matrix.long_rows ? 256 : Layout::all_rows)
                            : narrow ? 1024
                                     : 4096;
  constexpr Index few_rows = 4096;
  plan.gpu.unroll = !matrix.large_entry ? 2 : pattern.rows < few_rows ? 4 : 1;
  if (matrix.streams) {
    // This many bytes of a 60 MB L2 hold x, y and the part of the matrix that still fits; fewer in
    // a loop, whose other vectors need some too.
    const double bytes_kept = objective.is_product() ? 25e6 : 20e6;
    const double left =
        matrix.l2_scale * bytes_kept - matrix.vector_bytes * (matrix.rows + pattern.columns);
    constexpr double least = 0.1;  // fraction of the matrix: less gains nothing
    if (left > least * matrix.matrix_bytes) {
      plan.gpu.l2_percent = static_cast<int>(100 * left / matrix.matrix_bytes);
    }
    // In a solver's loop, the vectors then stay in L2 while the matrix passes through it.
    plan.gpu.load = plan.gpu.l2_percent == 0 && plan.layout.inner == InnerLayout::aos
                        ? LoadHint::no_allocate
                        : LoadHint::evict_first;
  }
  const bool by_component = plan.layout.inner == InnerLayout::aosoa_component;
  const bool one_thread_a_large_row = matrix.large_entry && plan.layout.threads_per_row == 1;
  plan.gpu.block_size = !matrix.streams ? 128 : by_component || one_thread_a_large_row ? 256 : 512;
  constexpr Index of_a_thread = 2 * warp;
  if (matrix.streams && !matrix.large_entry && (by_component || matrix.long_rows) &&
      (plan.layout.threshold == 0 || matrix.lengths.longest <= of_a_thread)) {
    // 40 registers a thread: as many threads as then fit, each with several entries in flight.
    constexpr int threads_of_multiprocessor = 1536;
    plan.gpu.blocks = threads_of_multiprocessor / plan.gpu.block_size;
    if (matrix.long_rows) plan.gpu.unroll = 4;
  }
  constexpr double bytes_of_short_products = 20e6;
  const bool is_square = pattern.rows == pattern.columns;
  plan.loop.form = LoopForm::graph;
  if (is_square) choose_loop(matrix, objective, plan);
  if ((plan.loop.form == LoopForm::persistent || !is_square) &&
      matrix.matrix_bytes <= bytes_of_short_products) {
    plan.gpu.block_size = 64;  // blocks for every multiprocessor
  }
  // Compiled for few blocks at a time, a product loads further ahead; entries larger than those
  // measured would run out of registers.
  constexpr int blocks_in_cache = 6, largest_in_registers = 72;
  if (!matrix.streams && entry_bytes <= largest_in_registers) plan.gpu.blocks = blocks_in_cache;
  // Trades one more vector pass for one kernel less, where vectors stay in L2.
  constexpr Index rows_of_short_vectors = 1 << 17;
  if (pattern.rows <= rows_of_short_vectors) plan.loop.single_reduction = true;
  // Blocks that synchronise keep r in registers, as long as a thread has few pieces of it.
  constexpr double vector_bytes_in_registers = 5e6;
  if (matrix.vector_bytes * matrix.rows <= vector_bytes_in_registers)
    plan.loop.fused_updates = true;
  // Kernels that start early take room from the one before: only for kernels that are short.
  constexpr Index rows_of_short_kernels = 1 << 17;
  if (pattern.rows <= rows_of_short_kernels) plan.loop.launch = KernelLaunch::overlapped;
  if (!is_square) plan.layout.basis = BasisUse::user;
  return plan;
}

}  // namespace

NearMemory NearMemory::of(const DeviceProperties& gpu) {
  NearMemory memory;
  if (gpu.last_cache > 0) memory.last_cache = static_cast<double>(gpu.last_cache);
  if (gpu.multiprocessors > 0) memory.multiprocessors = gpu.multiprocessors;
  if (gpu.shared_memory_of_block > 0) memory.shared_memory_of_block = gpu.shared_memory_of_block;
  return memory;
}

Plan choose_plan_for_gpu(const PatternView& pattern, const EntrySize& entry, StoredScalar stored,
                         Objective objective, const NearMemory& memory) {
  if (stored == StoredScalar::own) {
    return plan_for_entries(pattern, entry.bytes, entry, objective, memory);
  }
  if (stored == StoredScalar::unit) {
    // Planes of its three numbers. Decoding takes registers: several entries in flight are worth
    // less than the threads for which a single one leaves room.
    Plan plan = plan_for_entries(pattern, entry.bytes, entry, objective, memory);
    plan.layout.stored = stored;
    plan.layout.inner = InnerLayout::aosoa_component;
    plan.gpu.unroll = 1;
    return plan;
  }
  // The layout must suit the entry as iterations read it; vectors and registers are unchanged.
  const int stored_bytes = stored == StoredScalar::single ? 4 : 2;
  const int bytes =
      stored == StoredScalar::dictionary ? 1 : entry.bytes * stored_bytes / entry.scalar_bytes;
  Plan plan = plan_for_entries(pattern, bytes, entry, objective, memory);
  plan.gpu.blocks = 0;
  plan.layout.stored = stored;
  return plan;
}

namespace {

/// Returns true if rows read x in step, like those of a stencil: at least three quarters of the
/// entries of some rows lie at most 8 columns after one of the previous row. Columns that do not
/// ascend count less.
bool reads_x_in_step(const PatternView& pattern) {
  constexpr Index max_rows = 4096, max_distance = 8;
  const Index apart = std::max<Index>(1, pattern.rows / max_rows);
  Offset in_step = 0, all = 0;
  for (Index row = 1; row < pattern.rows; row += apart) {
    Offset before = pattern.offsets[row - 1];
    const Offset begin = pattern.offsets[row];
    for (Offset i = begin; i < pattern.offsets[row + 1]; ++i) {
      const Index column = pattern.column[i];
      while (before < begin && pattern.column[before] < column - max_distance) ++before;
      in_step += before < begin && pattern.column[before] <= column;
      ++all;
    }
  }
  return all > 0 && 4 * in_step >= 3 * all;
}

}  // namespace

// On a CPU a row is a loop of its own, entries follow one another in memory, and x is best read in
// the user's order: CSR in AoS. Slices and sorting only add padding and shuffle x; they are for
// devices that run rows side by side. The hardware follows an x that is read in step, and
// prefetching it costs small entries up to a quarter of their time (docs/inside/tried.md, "Limits
// of a simple loop"), as does prefetching data that lies in a cache anyway. Where equal shares of
// rows are unequal shares of entries, threads take chunks as they come.
Plan choose_plan_for_cpu(const PatternView& pattern, const EntrySize& entry, int threads,
                         StoredScalar stored) {
  constexpr double max_imbalance = 1.1;
  constexpr Index chunks_of_thread = 8;
  constexpr int small_entry = 16;
  constexpr Offset bytes_of_cache = Offset(8) << 20;  // a core's share, and less than most have
  constexpr Offset bytes_of_near_cache = Offset(512) << 10;  // a core's own
  Plan plan{.layout = {.stored = stored}};
  const bool is_x_near = Offset(pattern.columns) * entry.vector_bytes <= bytes_of_near_cache;
  if (entry.bytes <= small_entry && (is_x_near || reads_x_in_step(pattern))) {
    plan.cpu.prefetch_x = 0;
    const Offset slot = entry.bytes + static_cast<Offset>(sizeof(Index));
    if (pattern.offsets[pattern.rows] * slot <= bytes_of_cache) plan.cpu.prefetch_matrix = 0;
  }
  const Index chunk = groups_of(pattern.rows) / (chunks_of_thread * threads);
  if (chunk > 0 && imbalance_of_shares(pattern, threads) > max_imbalance) {
    plan.schedule.kind = ScheduleKind::dynamic;
    plan.schedule.chunk = std::min(plan.schedule.chunk, chunk);
  }
  return plan;
}

Plan choose_plan(const PatternView& pattern, const EntrySize& entry, const Device& device,
                 StoredScalar stored, Objective objective) {
  if (device.on_gpu()) {
    const NearMemory memory = NearMemory::of(properties_of(device));
    return choose_plan_for_gpu(pattern, entry, stored, objective, memory);
  }
  return choose_plan_for_cpu(pattern, entry, device.threads(), stored);
}

}  // namespace heddle
