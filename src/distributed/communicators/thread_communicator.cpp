#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/openmp_places.hpp"
#include "heddle/communicator.hpp"

namespace heddle {

namespace {

/// Where ranks of one process meet.
class Meeting {
 public:
  explicit Meeting(int ranks)
      : size_(ranks),
        inboxes_(static_cast<std::size_t>(ranks)),
        ended_(static_cast<std::size_t>(ranks)) {
    for (auto& slots : gathered_) slots.resize(static_cast<std::size_t>(ranks));
  }

  int size() const { return size_; }

  /// Bytes from one rank to another. The receiver copies them. The sender takes them back if it
  /// leaves by an exception, under the mutex.
  struct Box {
    std::mutex mutex;
    std::span<const std::byte> bytes;
    std::atomic<unsigned> sent = 0, taken = 0;
  };
  /// Made when two ranks first meet.
  Box& box(int from, int to) {
    Inbox& inbox = inboxes_[static_cast<std::size_t>(to)];
    const std::lock_guard lock(inbox.mutex);
    return inbox.from[from];
  }

  /// The bytes that rank `r` gives to a gathering; buffers alternate, so that one barrier separates
  /// two uses.
  std::vector<std::byte>& gathered(unsigned turn, int r) {
    return gathered_[turn % 2][static_cast<std::size_t>(r)];
  }

  void barrier(int rank) {
    const unsigned turn = turn_.load();
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++turn_;
      wake();
    } else {
      wait(rank, any_rank, [&] { return turn_.load() != turn; });
    }
  }

  /// Waits until `is_done()`; throws if a rank has failed, or if `awaited` has ended, so that it
  /// will never be done. Spins a moment: ranks are about equally fast.
  template <class Done>
  void wait(int rank, int awaited, const Done& is_done) {
    using Clock = std::chrono::steady_clock;
    constexpr auto awake = std::chrono::microseconds(20);
    const auto end = Clock::now() + awake;
    do {
      check();
      if (is_done()) return;
      std::this_thread::yield();
    } while (Clock::now() < end);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || has_ended(awaited) || is_done(); });
    lock.unlock();
    check();
    // A rank's calls before it ended count.
    if (!is_done()) refuse_end(rank, awaited);
  }
  void wake() {
    // Ensures that no waiter is between its look and its sleep.
    {
      const std::lock_guard lock(mutex_);
    }
    changed_.notify_all();
  }

  void fail(ErrorKind kind, const std::string& why) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (!failed_) {
        try {
          reason_.emplace(kind, why);
        } catch (const std::bad_alloc&) {
          reason_.reset();
        }
      }
      failed_ = true;
    }
    changed_.notify_all();
  }
  /// The rank no longer waits for any other, and no other may wait for it.
  void end(int rank) {
    {
      const std::lock_guard lock(mutex_);
      ended_[static_cast<std::size_t>(rank)] = true;
      if (first_ended_ == nobody) first_ended_ = rank;
    }
    changed_.notify_all();
  }
  void check() {
    if (!failed_) return;
    const std::lock_guard lock(mutex_);
    throw reason_.value_or(Error(ErrorKind::memory, "out of memory"));
  }

  static constexpr int any_rank = -1;

 private:
  static constexpr int nobody = -1;
  struct Inbox {
    std::mutex mutex;
    std::map<int, Box> from;
  };

  bool has_ended(int rank) const {
    if (rank == any_rank) return first_ended_ != nobody;
    return ended_[static_cast<std::size_t>(rank)];
  }
  [[noreturn]] void refuse_end(int rank, int awaited) {
    const int ended = awaited == any_rank ? first_ended_.load() : awaited;
    fail(ErrorKind::usage,
         "rank " + std::to_string(ended) + " has ended, but rank " + std::to_string(rank) +
             " waits for it: every rank must make the same calls in the same order");
    check();
    std::abort();  // not reached: a failed meeting throws
  }

  const int size_;
  std::vector<Inbox> inboxes_;
  std::vector<std::vector<std::byte>> gathered_[2];
  std::atomic<int> arrived_ = 0;
  std::atomic<unsigned> turn_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> failed_ = false;
  std::optional<Error> reason_;
  std::vector<std::atomic<bool>> ended_;
  std::atomic<int> first_ended_ = nobody;
};

class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return meeting_.size(); }
  std::string_view name() const override { return "threads"; }
  bool is_one_process() const override { return true; }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all,
                  std::span<const int> sizes) override {
    meeting_.check();  // a rank that threw may still read what this one gave last
    const unsigned turn = turn_++;
    meeting_.gathered(turn, rank_).assign(mine.begin(), mine.end());
    meeting_.barrier(rank_);
    std::size_t at = 0;
    for (int r = 0; r < size(); ++r) {
      const std::vector<std::byte>& bytes = meeting_.gathered(turn, r);
      const auto expected = static_cast<std::size_t>(sizes[static_cast<std::size_t>(r)]);
      if (bytes.size() != expected || at + expected > all.size()) refuse(r);
      if (expected > 0) std::memcpy(all.data() + at, bytes.data(), expected);
      at += expected;
    }
  }

  void begin_exchange(std::span<const Message<const std::byte>> sends,
                      std::span<const Message<std::byte>> receives) override {
    meeting_.check();
    sends_ = sends;
    receives_ = receives;
    for (const auto& send : sends) {
      Meeting::Box& box = meeting_.box(rank_, send.rank);
      box.bytes = send.bytes;
      ++box.sent;
    }
    meeting_.wake();
  }

  void end_exchange() override {
    try {
      for (const auto& receive : receives_) take(receive);
      meeting_.wake();
      for (const auto& send : sends_) {
        const Meeting::Box& box = meeting_.box(rank_, send.rank);
        meeting_.wait(rank_, send.rank, [&] { return box.taken.load() == box.sent.load(); });
      }
    } catch (...) {
      for (const auto& send : sends_) {
        Meeting::Box& box = meeting_.box(rank_, send.rank);
        const std::lock_guard lock(box.mutex);
        box.bytes = {};
      }
      throw;
    }
  }

  void fail(ErrorKind kind, const std::string& why) noexcept override { meeting_.fail(kind, why); }

 private:
  void take(const Message<std::byte>& receive) {
    Meeting::Box& box = meeting_.box(receive.rank, rank_);
    meeting_.wait(rank_, receive.rank, [&] { return box.sent.load() != box.taken.load(); });
    const std::lock_guard lock(box.mutex);
    meeting_.check();  // the sender may have left, with its bytes
    if (box.bytes.size() != receive.bytes.size()) refuse(receive.rank);
    std::copy(box.bytes.begin(), box.bytes.end(), receive.bytes.begin());
    ++box.taken;
  }

  [[noreturn]] void refuse(int other) {
    meeting_.fail(ErrorKind::size_mismatch, "rank " + std::to_string(other) +
                                                " sends a different number of bytes than rank " +
                                                std::to_string(rank_) +
                                                " expects: the calls of the ranks do not match");
    meeting_.check();
    std::abort();  // not reached: a failed meeting throws
  }

  Meeting& meeting_;
  int rank_;
  unsigned turn_ = 0;
  std::span<const Message<const std::byte>> sends_;
  std::span<const Message<std::byte>> receives_;
};

void run_rank(Meeting& meeting, int rank, const std::function<void(Communicator&)>& body) {
  ThreadCommunicator communicator(meeting, rank);
  try {
    guard(communicator, [&] { body(communicator); });
  } catch (...) {  // the meeting has its reason
  }
  meeting.end(rank);
}

}  // namespace

void run_on_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  constexpr int most = 1024;
  if (ranks < 1 || ranks > most) {
    throw Error(ErrorKind::usage, "the number of ranks is 1 to " + std::to_string(most) + ", not " +
                                      std::to_string(ranks));
  }
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(ranks));
  const Processors processors = processors_to_take();
  try {
    for (int r = 1; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        take_processors(processors);
        run_rank(meeting, r, body);
      });
    }
    run_rank(meeting, 0, body);
  } catch (const std::exception& error) {
    meeting.fail(ErrorKind::memory, std::string("a rank's thread cannot start: ") + error.what());
  }
  for (std::thread& thread : threads) thread.join();
  meeting.check();
}

}  // namespace heddle
