// How the ranks of a distributed matrix communicate: a small interface, and ranks that are threads
// of one process.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Bytes for another rank, or room for those that it sends.
template <class Byte>
struct Message {
  int rank;
  std::span<Byte> bytes;
};

/// The ranks of one program, seen from one of them. All calls except `fail` are collective: every
/// rank makes the same ones in the same order. Once a rank has called `fail`, they throw `Error` on
/// all ranks, with the reason that it gave, instead of waiting for it. A rank that throws does not
/// call `fail` by itself: `guard` does so for it, and `run_on_ranks` guards its ranks. One thread
/// at a time calls.
class HEDDLE_EXPORT Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "threads" or "mpi".
  virtual std::string_view name() const = 0;

  /// Concatenates the bytes of all ranks into `all`, in rank order. `sizes` counts each rank's
  /// bytes and is the same on all ranks; MPI takes up to 2^31 - 1 bytes together.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                          std::span<const int> sizes) = 0;

  /// Sends and receives: at most one message from each rank to each other, with matching sizes. The
  /// messages and their bytes belong to the communicator until `end_exchange` returns or throws.
  /// `end_exchange` must be called even if the work between the two calls has thrown.
  virtual void begin_exchange(std::span<const Message<const std::byte>> sends,
                              std::span<const Message<std::byte>> receives) = 0;
  virtual void end_exchange() = 0;

  /// Ends the calls of all ranks, including those that they wait in, with `Error` (`kind`, `why`).
  /// The first reason stands. If ranks are threads, any thread may call it; under MPI, only the one
  /// that may call the communicator.
  virtual void fail(ErrorKind kind, const std::string& why) noexcept = 0;

  /// True if its ranks are threads of one process, which share memory and GPUs.
  virtual bool is_one_process() const { return false; }
};

/// Runs `body` on `ranks` ranks, threads of this process, and returns when all have ended. If some
/// throw, the others' calls of the communicator throw too, and this throws the first reason. Calls
/// that wait for a rank whose body has returned also throw: `Error` (usage) with its number. Throws
/// `Error` (usage) unless there are 1 to 1024 ranks.
HEDDLE_EXPORT void run_on_ranks(int ranks, const std::function<void(Communicator&)>& body);

/// The number of each rank, in rank order. Collective.
HEDDLE_EXPORT std::vector<long long> gather(Communicator& ranks, long long mine);

/// The text that rank `speaker` passes, on all ranks. Collective.
HEDDLE_EXPORT std::string text_of_rank(Communicator& ranks, int speaker, const std::string& text);

/// Runs `body`; if it throws, the calls of all ranks throw its reason, and this rethrows. For all
/// work in which ranks call each other, including a solve, whose observer may throw.
HEDDLE_EXPORT void guard(Communicator& ranks, const std::function<void()>& body);

/// Runs `body`; if it throws on some ranks, all ranks throw the reason of the first of these and
/// may go on. For work that calls no rank, such as reading a file. Collective.
HEDDLE_EXPORT void together(Communicator& ranks, const std::function<void()>& body);

}  // namespace heddle
