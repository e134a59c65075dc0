#include <algorithm>
#include <chrono>
#include <climits>
#include <cstring>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heddle/mpi.hpp"

namespace heddle {

namespace {

void check_mpi(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw Error(ErrorKind::internal,
              std::string(call) + ": " + std::string(text, static_cast<std::size_t>(length)));
}

void check_threads() {
  int is_initialized = 0;
  int level = MPI_THREAD_SINGLE;
  MPI_Initialized(&is_initialized);
  if (is_initialized != 0) MPI_Query_thread(&level);
  if (is_initialized == 0 || level < MPI_THREAD_SERIALIZED) {
    throw Error(ErrorKind::usage,
                "MPI must be initialized by MPI_Init_thread with MPI_THREAD_SERIALIZED: a separate "
                "thread may drive the exchange");
  }
}

class MpiCommunicator final : public Communicator {
 public:
  explicit MpiCommunicator(MPI_Comm communicator) {
    check_threads();
    check_mpi(MPI_Comm_dup(communicator, &data_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_dup(communicator, &reasons_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(data_, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(reasons_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(data_, &rank_);
    MPI_Comm_size(data_, &size_);
    reason_.reserve(1 + max_text);
  }
  ~MpiCommunicator() override {
    if (failed_) return;  // pending calls will never end
    MPI_Comm_free(&data_);
    MPI_Comm_free(&reasons_);
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string_view name() const override { return "mpi"; }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                  std::span<const int> sizes) override {
    check_failure();
    places_.assign(sizes.size(), 0);
    count_of(std::accumulate(sizes.begin(), sizes.end(), std::size_t(0)));
    std::exclusive_scan(sizes.begin(), sizes.end(), places_.begin(), 0);
    requests_.resize(1);
    check_mpi(MPI_Iallgatherv(mine.data(), count_of(mine.size()), MPI_BYTE, all.data(),
                              sizes.data(), places_.data(), MPI_BYTE, data_, requests_.data()),
              "MPI_Iallgatherv");
    wait();
  }

  void begin_exchange(std::span<const Message<const std::byte>> sends,
                      std::span<const Message<std::byte>> receives) override {
    check_failure();
    for (const auto& receive : receives) count_of(receive.bytes.size());
    for (const auto& send : sends) count_of(send.bytes.size());
    requests_.clear();
    for (const auto& receive : receives) {
      check_mpi(MPI_Irecv(receive.bytes.data(), count_of(receive.bytes.size()), MPI_BYTE,
                          receive.rank, 0, data_, &requests_.emplace_back()),
                "MPI_Irecv");
    }
    for (const auto& send : sends) {
      check_mpi(MPI_Isend(send.bytes.data(), count_of(send.bytes.size()), MPI_BYTE, send.rank, 0,
                          data_, &requests_.emplace_back()),
                "MPI_Isend");
    }
  }
  void end_exchange() override { wait(); }

  void fail(ErrorKind kind, const std::string& why) noexcept override {
    if (failed_) return;
    try {
      failed_.emplace(kind, why);
    } catch (const std::bad_alloc&) {
      failed_ = out_of_memory_;
    }
    // The constructor reserved the text's memory, before memory could run out. The text stays with
    // this object.
    reason_.push_back(static_cast<char>(failed_->kind()));
    reason_.append(failed_->what(), std::min(max_text, std::strlen(failed_->what())));
    for (int other = 0; other < size_; ++other) {
      if (other == rank_) continue;
      MPI_Request request = MPI_REQUEST_NULL;
      const int status = MPI_Isend(reason_.data(), static_cast<int>(reason_.size()), MPI_BYTE,
                                   other, 0, reasons_, &request);
      if (status == MPI_SUCCESS) MPI_Request_free(&request);
    }
  }

  /// True if all ranks come here. If not, no call of MPI may follow.
  bool all_come(int status) {
    using Clock = std::chrono::steady_clock;
    constexpr auto patience = std::chrono::seconds(2);
    constexpr int failure = 2;
    if (failed_) return false;
    try {
      MPI_Request request;
      check_mpi(MPI_Ibarrier(reasons_, &request), "MPI_Ibarrier");
      for (const auto start = Clock::now();;) {
        int done = 0;
        check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
        if (done != 0) return true;
        check_failure();
        if (status >= failure && Clock::now() - start > patience) {
          fail(ErrorKind::internal,
               "rank " + std::to_string(rank_) + " has ended, status " + std::to_string(status) +
                   ", while others work: its command line or its environment differs");
          return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    } catch (const Error&) {
      return false;
    }
  }

 private:
  static constexpr std::size_t max_text = 2000;

  static int count_of(std::size_t bytes) {
    if (bytes <= INT_MAX) return static_cast<int>(bytes);
    throw Error(ErrorKind::unsupported,
                "a message of " + std::to_string(bytes) + " bytes: MPI takes up to 2^31 - 1");
  }

  /// Waits until the requests are done. Spins a moment, then lets other threads run between checks.
  void wait() {
    using Clock = std::chrono::steady_clock;
    constexpr auto between_looks = std::chrono::milliseconds(1);
    constexpr auto awake = std::chrono::microseconds(50);
    const auto start = Clock::now();
    auto next_look = start + between_looks;
    for (;;) {
      int done = 0;
      check_mpi(
          MPI_Testall(count_of(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE),
          "MPI_Testall");
      if (done != 0) return;
      const auto now = Clock::now();
      if (now - start > awake) std::this_thread::yield();
      if (now < next_look) continue;
      check_failure();
      next_look = now + between_looks;
    }
  }

  void check_failure() {
    if (failed_) throw *failed_;
    int is_there = 0;
    MPI_Status status;
    check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, 0, reasons_, &is_there, &status), "MPI_Iprobe");
    if (is_there == 0) return;
    int length = 0;
    MPI_Get_count(&status, MPI_BYTE, &length);
    std::string text(static_cast<std::size_t>(length), ' ');
    check_mpi(
        MPI_Recv(text.data(), length, MPI_BYTE, status.MPI_SOURCE, 0, reasons_, MPI_STATUS_IGNORE),
        "MPI_Recv");
    failed_.emplace(static_cast<ErrorKind>(text.front()), text.substr(1));
    throw *failed_;
  }

  MPI_Comm data_ = MPI_COMM_NULL, reasons_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> places_;
  std::vector<MPI_Request> requests_;
  const Error out_of_memory_{ErrorKind::memory, "out of memory"};
  std::optional<Error> failed_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(MPI_Comm communicator) {
  return std::make_unique<MpiCommunicator>(communicator);
}

void finalize_mpi(std::unique_ptr<Communicator> ranks, int status) {
  auto& of_mpi = dynamic_cast<MpiCommunicator&>(*ranks);
  if (of_mpi.all_come(status)) {
    ranks.reset();
    MPI_Finalize();
    return;
  }
  constexpr auto rank_0_speaks = std::chrono::seconds(30);
  if (of_mpi.rank() != 0) std::this_thread::sleep_for(rank_0_speaks);
  MPI_Abort(MPI_COMM_WORLD, status);
}

}  // namespace heddle
