#include "nccl_communicator_cuda.hpp"

#include <chrono>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "base/cuda_call.hpp"

namespace heddle::cuda {

namespace {

void check_nccl(int status, const char* call) {
  if (status == Nccl::success || status == Nccl::in_progress) return;
  throw Error(ErrorKind::internal,
              std::string("NCCL failed in ") + call + ": " + nccl().get_error_string(status));
}

/// A number that no other GPU of any host has.
long long number_of_gpu(int gpu) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, gpu), "cudaGetDeviceProperties");
  long long halves[2];
  static_assert(sizeof halves == sizeof properties.uuid);
  std::memcpy(halves, &properties.uuid, sizeof halves);
  return halves[0] ^ halves[1];
}

void check_have_own_gpus(Communicator& ranks, const Stream& stream) {
  long long own = 0;
  together(ranks, [&] { own = number_of_gpu(stream.gpu); });
  const std::vector<long long> all = heddle::gather(ranks, own);
  for (std::size_t a = 0; a < all.size(); ++a) {
    for (std::size_t b = a + 1; b < all.size(); ++b) {
      if (all[a] != all[b]) continue;
      throw Error(ErrorKind::unsupported, "NCCL needs a GPU for each rank, but ranks " +
                                              std::to_string(a) + " and " + std::to_string(b) +
                                              " share one");
    }
  }
}

}  // namespace

NcclCommunicator::NcclCommunicator(Communicator& ranks, const Device& device)
    : LinkedCommunicator(ranks, Transfer::nccl), exceptions_(std::uncaught_exceptions()) {
  const Stream& stream = device.stream();
  check_have_own_gpus(ranks, stream);
  Nccl::UniqueId mine{}, id{};
  together(ranks, [&] {
    if (nccl(); ranks.rank() == 0) check_nccl(nccl().get_unique_id(&mine), "ncclGetUniqueId");
  });
  std::vector<int> sizes(static_cast<std::size_t>(ranks.size()), 0);
  sizes[0] = static_cast<int>(sizeof id);
  const std::size_t own = ranks.rank() == 0 ? 1 : 0;
  ranks.all_gather(std::as_bytes(std::span(&mine, own)), std::as_writable_bytes(std::span(&id, 1)),
                   sizes);
  together(ranks, [&] {
    const OnGpu here(stream);
    Nccl::Communicator made = nullptr;
    // NCCL takes a channel for each block, up to 32, and connects each. Halos are small.
    Nccl::Config config;
    config.max_blocks = 8;
    check_nccl(nccl().init_rank(&made, ranks.size(), id, ranks.rank(), &config),
               "ncclCommInitRankConfig");
    communicator_.reset(made);
    queued_ = make_event();
  });
}

NcclCommunicator::~NcclCommunicator() {
  if (std::uncaught_exceptions() > exceptions_) give_up();
  if (communicator_) nccl().destroy(communicator_.release());
}

template <class Queue>
void NcclCommunicator::queue(const Stream& stream, const char* call, const Queue& queue) {
  if (!communicator_) {
    throw Error(ErrorKind::usage,
                "an earlier solve on these ranks failed and ended NCCL: "
                "create the transfer and the distributed objects again");
  }
  const OnGpu here(stream);
  check_nccl(queue(communicator_.get()), call);
  check(cudaEventRecord(queued_.get(), stream.queue), "cudaEventRecord");
}

void NcclCommunicator::exchange(std::span<const Message<const std::byte>> sends,
                                std::span<const Message<std::byte>> receives,
                                const Stream& stream) {
  queue(stream, "ncclGroupEnd", [&](Nccl::Communicator communicator) {
    int status = nccl().group_start();
    const auto keep_first = [&](int next) {
      if (status == Nccl::success) status = next;
    };
    for (const auto& [rank, bytes] : sends) {
      keep_first(
          nccl().send(bytes.data(), bytes.size(), Nccl::bytes, rank, communicator, stream.queue));
    }
    for (const auto& [rank, bytes] : receives) {
      keep_first(nccl().receive(bytes.data(), bytes.size(), Nccl::bytes, rank, communicator,
                                stream.queue));
    }
    keep_first(nccl().group_end());
    return status;
  });
}

void NcclCommunicator::gather(double* all, std::size_t count, const Stream& stream) {
  queue(stream, "ncclAllGather", [&](Nccl::Communicator communicator) {
    const double* const mine = all + static_cast<std::size_t>(rank()) * count;
    return nccl().all_gather(mine, all, count, Nccl::doubles, communicator, stream.queue);
  });
}

void NcclCommunicator::look() {
  if (!communicator_) return;
  int noticed = Nccl::success;
  const int status = nccl().get_async_error(communicator_.get(), &noticed);
  for (const int error : {status, noticed}) {
    if (error == Nccl::success || error == Nccl::in_progress) continue;
    communicator_.reset();
    check_nccl(error, "its queued work");
  }
  constexpr auto between_looks = std::chrono::milliseconds(1);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + between_looks;
  // Without messages it meets no rank, and throws if one has failed.
  begin_exchange({}, {});
  end_exchange();
}

void NcclCommunicator::give_up() noexcept {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::seconds(2);
  if (!communicator_) return;
  for (const auto end = Clock::now() + patience;
       cudaEventQuery(queued_.get()) == cudaErrorNotReady && Clock::now() < end;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  communicator_.reset();
}

std::unique_ptr<Communicator> make_nccl_communicator(Communicator& ranks, const Device& device) {
  return std::make_unique<NcclCommunicator>(ranks, device);
}

}  // namespace heddle::cuda
