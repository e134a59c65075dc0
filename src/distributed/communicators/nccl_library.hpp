// NVIDIA's library of communication between GPUs, opened at first use. Its few functions are
// declared here, so that heddle builds without it and starts on machines that have none.
#pragma once

#include <cstddef>
#include <limits>

#include "heddle/device.hpp"

namespace heddle::cuda {

struct Nccl {
  using Communicator = void*;
  struct UniqueId {
    char bytes[128];
  };
  /// ncclConfig_t of NCCL 2.17, which later ones read too.
  struct Config {
    static constexpr int unset = std::numeric_limits<int>::min();

    std::size_t size = sizeof(Config);
    unsigned magic = 0xcafebeef;
    unsigned version = 21700;
    int blocking = 1;
    int cluster_size = unset;
    int min_blocks = unset;
    int max_blocks = unset;
    const char* network = nullptr;
  };
  enum Result { success = 0, in_progress = 7 };
  enum Type { bytes = 1, doubles = 8 };

  const char* (*get_error_string)(int result);
  int (*get_unique_id)(UniqueId* id);
  int (*init_rank)(Communicator* made, int ranks, UniqueId id, int rank, Config* config);
  int (*destroy)(Communicator communicator);
  int (*abort)(Communicator communicator);
  int (*get_async_error)(Communicator communicator, int* result);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, std::size_t count, int type, int to_rank, Communicator communicator,
              CUstream_st* stream);
  int (*receive)(void* to, std::size_t count, int type, int from_rank, Communicator communicator,
                 CUstream_st* stream);
  int (*all_gather)(const void* mine, void* all, std::size_t count, int type,
                    Communicator communicator, CUstream_st* stream);
};

/// The libnccl.so.2 that HEDDLE_NCCL names, a file or its folder, or that of the usual places of
/// `SharedLibrary`. Throws `Error` of kind no_device, anew at each call, while there is none.
const Nccl& nccl();

}  // namespace heddle::cuda
