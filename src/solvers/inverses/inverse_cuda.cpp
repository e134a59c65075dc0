#include "inverse_cuda.hpp"

#include <algorithm>
#include <numeric>

#include "base/cuda_call.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

constexpr int bytes_of_word = 8;
/// Largest workspace of a team within a warp, in bytes: with more, too few teams run at once to
/// hide their waits.
constexpr long long max_of_team = 48 << 10;
/// Maximum total of all workspaces in global memory, unless one alone takes more.
constexpr long long max_scratch = 256LL << 20;

template <class T>
std::vector<T> on_host(const Array<T>& array) {
  return array.empty() ? std::vector<T>{} : array.to_host();
}

/// The rows' inverse order: where row i of the basis is stored.
std::vector<Index> inverted(const std::vector<Index>& target) {
  std::vector<Index> stored(target.size());
  for (std::size_t i = 0; i < target.size(); ++i) {
    stored[static_cast<std::size_t>(target[i])] = static_cast<Index>(i);
  }
  return stored;
}

/// Odd, so that adjacent workspaces begin on different banks.
int words_of_row(const InverseProgram& program, Index entries) {
  return static_cast<int>(
      device::words_of_system(program.part, entries, program.tiles.size, program.tiles.ring) | 1);
}

/// Lanes for a row, or a block; the latter in global memory if shared memory has no room.
InverseTeam team_for(const InverseProgram& program, Index entries, long long shared) {
  const long long bytes = static_cast<long long>(words_of_row(program, entries)) * bytes_of_word;
  // A lane takes tiles of a column of the factor, or a row of the dense matrix.
  const bool is_factor = program.part == device::InversePart::factor_row;
  const long long parts =
      is_factor ? entries : static_cast<long long>(entries) * program.tiles.size;
  const long long max_parts = is_factor ? 32 : 64;
  for (const int lanes : {4, 8, 16, 32}) {
    const long long in_block = bytes * (threads_of_teams / lanes);
    if ((parts <= lanes || (lanes == 32 && parts <= max_parts)) && bytes <= max_of_team &&
        in_block <= shared) {
      return {lanes, true};
    }
  }
  return {threads_of_long_row, bytes <= shared};
}

StoredMatrix stored_matrix(const Product& product) {
  return {product.plan().layout, product.pattern().C, product.shape().stored_bytes};
}

}  // namespace

struct LocalInverse::Launch {
  cudaKernel_t kernel = nullptr;
  LaunchShape shape;
  Array<Index> rows;
  Array<double> scratch;
  int words = 0;
};

LocalInverse::LocalInverse(const detail::EntryTiles& tiles, const Parts& parts,
                           const Device& device)
    : device_(device), failed_(device::row_failures, device) {
  const SlicedPattern& A = parts.matrix.pattern();
  const SlicedPattern& G = parts.first.pattern();
  arguments_.A = parts.matrix.matrix();
  arguments_.G = parts.first.matrix();
  arguments_.first = static_cast<char*>(parts.first_values);
  arguments_.second = static_cast<char*>(parts.second_values);
  arguments_.user_row = A.row_basis->user_rows_on(device);
  if (!A.target.empty()) {
    stored_row_ = Array<Index>(std::span<const Index>(inverted(A.target.to_host())), device);
    arguments_.stored_row = stored_row_.data();
  }
  if (parts.second != nullptr) {
    const SlicedPattern& second = parts.second->pattern();
    const std::vector<Offset> from = on_host(slots_of_entries(G)),
                              to = on_host(slots_of_entries(second));
    std::vector<Offset> slots(static_cast<std::size_t>(G.slots));
    for (std::size_t i = 0; i < from.size(); ++i) {
      slots[static_cast<std::size_t>(from[i])] =
          to[static_cast<std::size_t>(parts.place_in_second[i])];
    }
    second_slot_ = Array<Offset>(std::span<const Offset>(slots), device);
    arguments_.second_slot = second_slot_.data();
    arguments_.second_slots = second.slots;
  }
  const auto part = !parts.groups.empty()     ? device::InversePart::block
                    : parts.second != nullptr ? device::InversePart::factor_row
                                              : device::InversePart::row;
  const InverseProgram program{tiles, part, stored_matrix(parts.matrix),
                               stored_matrix(parts.first)};
  std::vector<Index> rows(static_cast<std::size_t>(G.rows));
  std::iota(rows.begin(), rows.end(), 0);
  sort_rows(program, G, parts.groups.empty() ? rows : rows_of_blocks(parts));
}

LocalInverse::~LocalInverse() = default;

/// The stored row of each block's first row.
std::vector<Index> LocalInverse::rows_of_blocks(const Parts& parts) {
  const SlicedPattern& G = parts.first.pattern();
  std::vector<Index> stored;
  if (!G.target.empty()) {
    stored = inverted(G.target.to_host());
    row_of_inverse_ = Array<Index>(std::span<const Index>(stored), device_);
    arguments_.row_of_inverse = row_of_inverse_.data();
  }
  arguments_.mirror_tolerance = parts.mirror_tolerance;
  std::vector<Index> rows;
  for (const Index first : parts.groups.first(parts.groups.size() - 1)) {
    const Index position = G.row_basis->position(first);
    rows.push_back(stored.empty() ? position : stored[static_cast<std::size_t>(position)]);
  }
  return rows;
}

void LocalInverse::sort_rows(const InverseProgram& program, const SlicedPattern& G,
                             const std::vector<Index>& rows) {
  int most = 0;
  check(
      cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device_.stream().gpu),
      "cudaDeviceGetAttribute");
  constexpr int static_shared = 1024;
  shared_bytes_ = most - static_shared;
  const std::vector<Index> lengths = on_host(G.row_length);
  const std::vector<Offset> offsets = G.C == 1 ? on_host(G.offset) : std::vector<Offset>{};
  struct Class {
    InverseTeam team;
    std::vector<Index> rows;
    Index longest = 0;
  };
  std::vector<Class> classes;
  for (const Index row : rows) {
    const auto i = static_cast<std::size_t>(row);
    const Index entries =
        lengths.empty() ? static_cast<Index>(offsets[i + 1] - offsets[i]) : lengths[i];
    const InverseTeam team = team_for(program, entries, shared_bytes_);
    auto found = std::find_if(classes.begin(), classes.end(), [&](const Class& of) {
      return of.team.lanes == team.lanes && of.team.in_shared == team.in_shared;
    });
    if (found == classes.end()) found = classes.insert(found, Class{team, {}, 0});
    found->rows.push_back(row);
    found->longest = std::max(found->longest, entries);
  }
  // Long rows first: the others fill the rest of the GPU.
  std::sort(classes.begin(), classes.end(),
            [](const Class& a, const Class& b) { return a.longest > b.longest; });
  for (const Class& of : classes) make_launch(program, of.team, of.rows, of.longest);
}

void LocalInverse::make_launch(const InverseProgram& program, const InverseTeam& team,
                               const std::vector<Index>& rows, Index longest) {
  const Stream& stream = device_.stream();
  const OnGpu here(stream);
  Launch launch;
  launch.kernel = load_kernel(inverse_source(program, team), "heddle_invert_rows", stream);
  launch.rows = Array<Index>(std::span<const Index>(rows), device_);
  launch.words = words_of_row(program, longest);
  const bool is_long = team.lanes > 32;
  launch.shape.threads = is_long ? threads_of_long_row : threads_of_teams;
  const int rows_of_block = is_long ? 1 : threads_of_teams / team.lanes;
  const auto count = static_cast<long long>(rows.size());
  const long long bytes = static_cast<long long>(launch.words) * bytes_of_word;
  long long blocks = (count + rows_of_block - 1) / rows_of_block;
  if (team.in_shared) {
    launch.shape.shared_bytes = static_cast<unsigned>(bytes * rows_of_block);
    check(
        cudaKernelSetAttributeForDevice(launch.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        shared_bytes_, stream.gpu),
        "cudaKernelSetAttributeForDevice");
  } else {
    blocks = std::min({blocks, 2LL * multiprocessors(stream), std::max(1LL, max_scratch / bytes)});
    launch.scratch = Array<double>(
        static_cast<std::size_t>(blocks) * static_cast<std::size_t>(launch.words), device_);
  }
  launch.shape.blocks = static_cast<unsigned>(blocks);
  launches_.push_back(std::move(launch));
}

InverseFailures LocalInverse::compute(const Stream& stream) {
  const Index rows = arguments_.A.rows;
  InverseFailures failures;
  std::fill(std::begin(failures.row), std::end(failures.row), rows);
  if (rows == 0) return failures;
  detail::copy_bytes(failed_.data(), failures.row, sizeof failures.row, stream);
  Index* const kinds[] = {failed_.data(), failed_.data() + 1, failed_.data() + 2};
  queue(kinds, stream);
  detail::copy_bytes(failures.row, failed_.data(), sizeof failures.row, stream);
  return failures;
}

void LocalInverse::queue(Index* const (&failed)[device::row_failures], const Stream& stream) const {
  const OnGpu here(stream);
  for (const Launch& of : launches_) {
    device::InverseArguments<char, char> arguments = arguments_;
    arguments.rows = of.rows.data();
    arguments.count = static_cast<Index>(of.rows.size());
    arguments.words = of.words;
    arguments.scratch = const_cast<double*>(of.scratch.data());
    std::copy(std::begin(failed), std::end(failed), arguments.failed);
    void* pointers[] = {&arguments};
    launch(of.kernel, of.shape, stream, pointers);
  }
}

}  // namespace heddle::cuda
