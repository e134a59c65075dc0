#include "nccl_library.hpp"

#include "base/shared_library.hpp"

namespace heddle::cuda {

namespace {

Nccl open_nccl() {
  const SharedLibrary library("HEDDLE_NCCL", {"libnccl.so.2"});
  Nccl n{};
  library.find(n.get_error_string, "ncclGetErrorString");
  library.find(n.get_unique_id, "ncclGetUniqueId");
  library.find(n.init_rank, "ncclCommInitRankConfig");
  library.find(n.destroy, "ncclCommDestroy");
  library.find(n.abort, "ncclCommAbort");
  library.find(n.get_async_error, "ncclCommGetAsyncError");
  library.find(n.group_start, "ncclGroupStart");
  library.find(n.group_end, "ncclGroupEnd");
  library.find(n.send, "ncclSend");
  library.find(n.receive, "ncclRecv");
  library.find(n.all_gather, "ncclAllGather");
  return n;
}

}  // namespace

const Nccl& nccl() {
  static const Nccl library = open_nccl();
  return library;
}

}  // namespace heddle::cuda
