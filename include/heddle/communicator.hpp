// How the ranks of a distributed matrix talk: a small interface, and ranks that are threads of one
// process.
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

/// Bytes for another rank, or room for bytes of it.
template <class Byte>
struct Message {
  int rank;
  std::span<Byte> bytes;
};

/// The ranks of one program, from the view of one of them. All calls but `fail` are collective:
/// every rank makes the same ones in the same order. Once a rank has failed, they throw `Error` on
/// all ranks, with the reason that it gave, instead of waiting for it. One thread at a time calls.
class HEDDLE_EXPORT Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// "threads" or "mpi".
  virtual std::string_view name() const = 0;

  /// The bytes of all ranks, one behind the other, into `all`. `sizes`: of each rank's bytes, the
  /// same on all ranks.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                          std::span<const int> sizes) = 0;

  /// Sends and receives: at most one message from each rank to each other, whose sizes agree. The
  /// messages and their bytes are the communicator's until `end_exchange` returns.
  virtual void begin_exchange(std::span<const Message<const std::byte>> sends,
                              std::span<const Message<std::byte>> receives) = 0;
  virtual void end_exchange() = 0;

  /// Ends the calls of all ranks, those that they wait in too, with `Error` (`kind`, `why`). The
  /// first reason stands. Any thread may call it.
  virtual void fail(ErrorKind kind, const std::string& why) noexcept = 0;
};

/// Runs `body` on so many ranks, threads of this process, and returns when all have ended. Where
/// some throw, the others' calls of the communicator throw too, and this throws the first reason.
/// Throws `Error` (usage) unless there are 1 to 1024.
HEDDLE_EXPORT void run_on_ranks(int ranks, const std::function<void(Communicator&)>& body);

/// The number of each rank, in their order. Collective.
HEDDLE_EXPORT std::vector<long long> gather(Communicator& ranks, long long mine);

/// Runs `body`; where it throws on some ranks, all of them throw the reason of the first of these
/// and may go on. For work that calls no rank, such as reading a file. Collective.
HEDDLE_EXPORT void together(Communicator& ranks, const std::function<void()>& body);

}  // namespace heddle
