#include "basis_cuda.hpp"

#include <algorithm>
#include <utility>

#include "heddle/detail/reduction.hpp"
#include "heddle/error.hpp"
#include "spmv/kernel_library_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Bytes of shared memory that every GPU gives a block without a request.
constexpr int shared_of_block = 48 << 10;
constexpr int shared_of_others = 6 << 10;  // the state of a run, and sums of warps
constexpr Offset min_chunks_of_block = 128;
constexpr Offset chunks_of_line = 8;  // 128 bytes or more, which two blocks would load twice

int numbers_kept(const detail::MethodProgram& program, int most) {
  return static_cast<int>(program.kept_numbers(most)) * ring_size(program.ring);
}

std::size_t products_of(const detail::MethodProgram& program, int most) {
  return static_cast<std::size_t>(device::products_of_basis(most, ring_size(program.ring)));
}

/// For blocks; or for groups of rows, followed by those of all ranks.
Offset doubles_of_sums(const detail::MethodProgram& program, int most,
                       std::optional<Index> groups) {
  return static_cast<Offset>(products_of(program, most)) *
         (groups ? Offset(*groups) + 1 : Offset{device::max_blocks_of_basis});
}

Offset numbers_of_hessenberg(int most, int ring) { return Offset(most + 1) * most * ring; }

int front_bytes(int most, int ring) {
  return device::numbers_of_basis(most, ring) * static_cast<int>(sizeof(double));
}

}  // namespace

template <class S>
DeviceBasis<S>::DeviceBasis(const detail::MethodProgram& program,
                            const detail::BasisStorage& storage, const StepShape<S>& shape,
                            const Device& device)
    : program_(program),
      ring_(ring_size(program.ring)),
      share_(shape.by_groups ? device.stream().share : nullptr),
      groups_(share_ != nullptr ? std::optional(groups_of(share_->rows())) : std::nullopt),
      joined_(share_ != nullptr ? products_of(program, storage.most) : 0),
      numbers_(static_cast<std::size_t>(doubles(program, storage.most, groups_)), device),
      count_(1, device) {
  const int elements =
      shape.is_contiguous ? std::max(1, 16 / (ring_ * static_cast<int>(sizeof(S)))) : 1;
  auto& a = arguments_;
  a.walk = shape.walk;
  a.chunks_of_plane = (shape.walk.elements + elements - 1) / elements;
  a.chunks = a.chunks_of_plane * shape.walk.planes;
  if (shape.by_groups) {  // the last group may be shorter
    const Offset of_last = (shape.walk.elements_of_last + elements - 1) / elements;
    a.chunks += of_last - a.chunks_of_plane;
  }
  // A multiprocessor is left for the block that decides.
  const Offset others = multiprocessors(device.stream()) - 1;
  const Offset blocks = std::clamp<Offset>(others, 1, device::max_blocks_of_basis);
  const Offset lines = (a.chunks + blocks * chunks_of_line - 1) / (blocks * chunks_of_line);
  const Offset share = std::max(lines * chunks_of_line, min_chunks_of_block);
  a.chunks_of_block = static_cast<int>(share);
  a.blocks = static_cast<int>(std::max<Offset>((a.chunks + share - 1) / share, 1));
  a.most = storage.most;
  a.basis = storage.data;
  a.stride = storage.stride;
  const int front = front_bytes(storage.most, ring_);
  if (front + shared_of_others > shared_of_block) {
    throw Error(ErrorKind::unsupported, "a GPU's block has no room for the coefficients of " +
                                            std::to_string(storage.most) +
                                            " vectors: restart after fewer iterations");
  }
  const int kept = numbers_kept(program, storage.most);
  const bool fits =
      front + kept * static_cast<int>(sizeof(double)) + shared_of_others <= shared_of_block;
  a.staged = fits ? kept : 0;
  double* next = numbers_.data();
  const auto take = [&](Offset count) { return std::exchange(next, next + count); };
  a.of_product = a.blocks;
  a.of_block = 1;
  a.summed = a.blocks;
  a.sums = take(doubles_of_sums(program, storage.most, groups_));
  a.hessenberg = take(numbers_of_hessenberg(storage.most, ring_));
  a.column = take(storage.most * ring_);
  a.kept = take(kept);
  a.count = count_.data();
}

template <class S>
Offset DeviceBasis<S>::doubles(const detail::MethodProgram& program, int most,
                               std::optional<Index> groups) {
  const int ring = ring_size(program.ring);
  return doubles_of_sums(program, most, groups) + numbers_of_hessenberg(most, ring) +
         Offset(most) * ring + numbers_kept(program, most);
}

template <class S>
unsigned DeviceBasis<S>::shared_bytes(bool decides) const {
  const int staged = decides ? arguments_.staged * static_cast<int>(sizeof(double)) : 0;
  return static_cast<unsigned>(front_bytes(arguments_.most, ring_) + staged);
}

template <class S>
void DeviceBasis<S>::launch_basis(cudaKernel_t kernel, device::BasisArguments& arguments,
                                  unsigned blocks, bool decides, bool overlapped,
                                  const Stream& stream) const {
  void* pointers[] = {&arguments};
  launch(kernel,
         {.blocks = blocks,
          .threads = device::threads_of_basis,
          .shared_bytes = shared_bytes(decides),
          .overlapped = overlapped},
         stream, pointers);
}

template <class S>
void DeviceBasis<S>::orthogonalize(const Kernels& kernels, bool start, int i,
                                   const StateSide& state, S* from, S* to, const S* z,
                                   const std::function<bool()>& overlaps, const Stream& stream) {
  const auto blocks = static_cast<unsigned>(arguments_.blocks);
  const std::string name = name_of_step(start, i);
  device::BasisArguments a = arguments_;
  a.state = state.state;
  a.side = state.side;
  a.in = from;
  a.out = to;
  a.z = z;
  if (start) {
    vectors_ = 0;
  } else if (share_ != nullptr) {
    join_products(kernels, name, a, stream);
  } else {
    launch_basis(kernels.at("products_" + name), a, blocks, false, overlaps(), stream);
  }
  launch_basis(kernels.at(name), a, blocks + 1, true, overlaps(), stream);
}

/// Launches a block for each group of 256 rows, whose sums the ranks join. If a run has ended, the
/// kernel leaves the old values, and the next one does nothing.
template <class S>
void DeviceBasis<S>::join_products(const Kernels& kernels, const std::string& name,
                                   device::BasisArguments& a, const Stream& stream) {
  const int numbers = device::products_of_basis(std::min(vectors_++, a.most), ring_);
  device::BasisArguments of_groups = a;
  of_groups.blocks = static_cast<int>(*groups_);
  of_groups.chunks_of_block = static_cast<int>(a.chunks_of_plane);
  of_groups.of_product = 1;
  of_groups.of_block = numbers;
  if (*groups_ > 0) {
    launch_basis(kernels.at("products_" + name), of_groups, static_cast<unsigned>(*groups_), false,
                 false, stream);
  }
  share_->join_on_gpu(a.sums, numbers, joined_.data(), RowShare::Join::sum, stream);
  a.sums += Offset(*groups_) * device::products_of_basis(a.most, ring_);
  a.of_product = 1;
  a.summed = 1;
  detail::copy_bytes(a.sums, joined_.data(), static_cast<std::size_t>(numbers) * sizeof(double),
                     stream);
}

template <class S>
void DeviceBasis<S>::combine(const Kernels& kernels, const StateSide& state, S* to,
                             const Stream& stream) const {
  device::BasisArguments a = arguments_;
  a.state = state.state;
  a.side = state.side;
  a.out = to;
  launch_basis(kernels.at("solution"), a, 1, true, false, stream);
  launch_basis(kernels.at("combination"), a, static_cast<unsigned>(a.blocks), false, false, stream);
}

template class DeviceBasis<float>;
template class DeviceBasis<double>;

}  // namespace heddle::cuda
