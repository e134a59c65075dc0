#include "heddle/transfer.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "heddle/config.hpp"
#include "heddle/error.hpp"
#include "linked_communicator.hpp"

namespace heddle {

namespace {

constexpr std::string_view transfer_names[] = {"peer", "nccl", "staged"};

}  // namespace

std::string_view name(Transfer transfer) {
  return transfer_names[static_cast<std::size_t>(transfer)];
}

Transfer parse_transfer(std::string_view name) {
  const auto found = std::find(std::begin(transfer_names), std::end(transfer_names), name);
  if (found == std::end(transfer_names)) {
    throw Error(ErrorKind::usage, "the transfer is peer, nccl or staged, not " + std::string(name));
  }
  return static_cast<Transfer>(found - std::begin(transfer_names));
}

Transfer transfer_of(const Communicator& ranks) {
  const auto* const linked = dynamic_cast<const detail::LinkedCommunicator*>(&ranks);
  if (linked != nullptr) return linked->transfer();
  return ranks.is_one_process() ? Transfer::peer : Transfer::staged;
}

std::unique_ptr<Communicator> with_transfer(Communicator& ranks, Transfer transfer,
                                            const Device& device) {
  if (transfer == Transfer::nccl) {
    together(ranks, [&] {
      if (device.on_gpu()) return;
      throw Error(ErrorKind::unsupported, "NCCL needs ranks on GPUs");
    });
    if constexpr (has_cuda) return cuda::make_nccl_communicator(ranks, device);
  }
  if (transfer == Transfer::peer && !ranks.is_one_process()) {
    throw Error(
        ErrorKind::unsupported,
        "GPUs of different processes cannot access each other's memory: use nccl or staged");
  }
  return std::make_unique<detail::LinkedCommunicator>(ranks, transfer);
}

}  // namespace heddle
