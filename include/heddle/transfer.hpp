// How the GPUs of ranks that share a matrix exchange rows of fields.
#pragma once

#include <memory>
#include <string_view>

#include "heddle/communicator.hpp"
#include "heddle/device.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// `peer`: copies from memory to memory, between threads of one process; `nccl`: sends and receives
/// of NVIDIA's library, between any processes that have a GPU each; `staged`: messages between the
/// hosts, through pinned memory. No transfer changes a bit.
enum class Transfer { peer, nccl, staged };

HEDDLE_EXPORT std::string_view name(Transfer transfer);
/// Throws `Error` (usage) for another name.
HEDDLE_EXPORT Transfer parse_transfer(std::string_view name);

/// The transfer that ranks on GPUs use: that of `with_transfer`; else `peer` in one process, and
/// `staged` elsewhere.
HEDDLE_EXPORT Transfer transfer_of(const Communicator& ranks);

/// The same ranks with this transfer, on each rank's GPU. Collective. `ranks` must outlive the
/// result, and the result everything that is made with it. Throws one `Error` on all ranks:
/// unsupported for `peer` between processes, and for `nccl` on a CPU, in a build without CUDA or if
/// two ranks share a GPU; no_device if there is no libnccl, see `docs/guide/distributed.md`.
HEDDLE_EXPORT std::unique_ptr<Communicator> with_transfer(Communicator& ranks, Transfer transfer,
                                                          const Device& device);

}  // namespace heddle
