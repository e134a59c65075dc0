#include "heddle/tools/team.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cores.hpp"
#include "openmp_places.hpp"

namespace heddle::detail {

namespace {

/// How long a thread looks out for work, or for the last of the others, before it sleeps: longer
/// than the steps between two loops of a solver, and too short to be in another program's way.
constexpr std::chrono::microseconds awake{20};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Returns once `value` differs from `old`; sleeps at once if there are fewer cores than threads.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old, bool has_core) {
  if (has_core) {
    const auto end = std::chrono::steady_clock::now() + awake;
    do {
      for (int i = 0; i < 32; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  value.wait(old, std::memory_order_acquire);
}

constexpr std::size_t line = 64;

/// The remainder of a thread's share: units [begin, end), which its owner takes from the front and
/// others by halves from the back.
struct alignas(line) Share {
  std::atomic<std::uint64_t> range{0};

  static std::uint64_t packed(std::uint64_t begin, std::uint64_t end) { return begin << 32 | end; }
  static std::uint64_t begin_of(std::uint64_t range) { return range >> 32; }
  static std::uint64_t end_of(std::uint64_t range) { return range & 0xffffffff; }
};

}  // namespace

/// The remaining work of one loop.
class Loop {
 public:
  /// `shares`: one for each of `threads`.
  void begin(int threads, Offset count, Offset chunk, Share* shares) {
    constexpr Offset max_units = Offset(1) << 31;
    ++round_;
    threads_ = threads;
    count_ = count;
    in_order_ = chunk > 0;
    unit_ = in_order_ ? chunk : (count + max_units - 1) / max_units;
    shares_ = shares;
    next_.store(0, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    if (in_order_) return;
    const auto units = static_cast<std::uint64_t>((count + unit_ - 1) / unit_);
    const auto all = static_cast<std::uint64_t>(threads);
    claim_ = std::max<std::uint64_t>(1, units / all / 16);
    for (std::uint64_t t = 0; t < all; ++t) {
      shares_[t].range.store(Share::packed(units * t / all, units * (t + 1) / all),
                             std::memory_order_relaxed);
    }
  }

  bool claim(int thread, Claim& claim) {
    if (failed_.load(std::memory_order_relaxed)) return false;
    if (in_order_) {
      const Offset unit = next_.fetch_add(1, std::memory_order_relaxed);
      if (unit > (count_ - 1) / unit_) return false;
      return set(claim, unit, unit + 1);
    }
    return take_own(thread, claim) || (steal(thread) && take_own(thread, claim));
  }

  int threads() const { return threads_; }
  /// A different number for each loop.
  std::uint64_t round() const { return round_; }
  void fail() { failed_.store(true, std::memory_order_relaxed); }

 private:
  bool set(Claim& claim, Offset begin, Offset end) const {
    claim = {begin * unit_, std::min(end * unit_, count_)};
    return true;
  }

  /// Takes a sixteenth of a share: smaller claims would take as long as cheap items do.
  bool take_own(int thread, Claim& claim) {
    std::atomic<std::uint64_t>& own = shares_[thread].range;
    std::uint64_t range = own.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint64_t begin = Share::begin_of(range), end = Share::end_of(range);
      if (begin >= end) return false;
      const std::uint64_t taken = std::min(claim_, end - begin);
      if (own.compare_exchange_weak(range, Share::packed(begin + taken, end),
                                    std::memory_order_relaxed)) {
        return set(claim, static_cast<Offset>(begin), static_cast<Offset>(begin + taken));
      }
    }
  }

  /// Half of another thread's remaining share becomes this one's.
  bool steal(int thread) {
    for (int step = 1; step < threads_; ++step) {
      std::atomic<std::uint64_t>& other = shares_[(thread + step) % threads_].range;
      std::uint64_t range = other.load(std::memory_order_relaxed);
      for (;;) {
        const std::uint64_t begin = Share::begin_of(range), end = Share::end_of(range);
        if (begin >= end) break;
        const std::uint64_t middle = end - begin <= claim_ ? begin : begin + (end - begin) / 2;
        if (other.compare_exchange_weak(range, Share::packed(begin, middle),
                                        std::memory_order_relaxed)) {
          shares_[thread].range.store(Share::packed(middle, end), std::memory_order_relaxed);
          return true;
        }
      }
    }
    return false;
  }

  std::uint64_t round_ = 0;
  int threads_ = 1;
  Offset count_ = 0;
  Offset unit_ = 1;
  std::uint64_t claim_ = 1;
  bool in_order_ = false;
  Share* shares_ = nullptr;
  std::atomic<Offset> next_{0};
  std::atomic<bool> failed_{false};
};

bool Claims::next(Claim& claim) { return loop_.claim(thread_, claim); }

namespace {

/// True if this thread works for a team already.
thread_local bool at_work = false;

/// The threads that one thread leads. Each has a number, 0 for the leader, and with it the same
/// share of every loop, whose data its core's caches may hold.
class Team {
 public:
  Team() = default;
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    // The child of a fork has the objects, but not the threads.
    at_work = true;  // later loops run without a team
    const bool has_threads = process_ == getpid();
    stop_.store(true, std::memory_order_relaxed);
    for (const auto& worker : workers_) {
      if (has_threads) {
        call(*worker);
        worker->thread.join();
      } else {
        worker->thread.detach();
      }
    }
  }

  /// Makes as many threads as possible, up to `threads`: a process may be refused more.
  int grow(int threads) {
    if (process_ != getpid()) return 1;
    const auto wanted = static_cast<std::size_t>(threads);
    try {
      if (wanted > capacity_ && !refused_) {
        workers_.reserve(wanted);
        shares_ = std::make_unique<Share[]>(wanted);
        capacity_ = wanted;
      }
      Processors processors;
      if (workers_.size() + 1 < wanted && !refused_) processors = processors_to_take();
      while (workers_.size() + 1 < wanted && !refused_) {
        auto worker = std::make_unique<Worker>();
        const int number = static_cast<int>(workers_.size()) + 1;
        worker->thread = std::thread([this, number, &mine = *worker, processors] {
          take_processors(processors);
          serve(number, mine);
        });
        workers_.push_back(std::move(worker));
      }
    } catch (const std::exception&) {  // no memory, or no more threads
      refused_ = true;
    }
    has_cores_ = static_cast<int>(workers_.size()) < usable_cores();
    return std::min({threads, static_cast<int>(workers_.size()) + 1, static_cast<int>(capacity_)});
  }

  /// `threads`: more than one, and no more than `grow` returned.
  void run(int threads, Offset count, Offset chunk, WorkReference work) {
    loop_.begin(threads, count, chunk, shares_.get());
    work_ = work;
    exception_ = nullptr;
    state_.fetch_and(~closed, std::memory_order_release);
    for (int t = 1; t < threads; ++t) call(*workers_[static_cast<std::size_t>(t) - 1]);
    work_on(0);
    state_.fetch_or(closed, std::memory_order_acquire);
    for (;;) {
      const std::uint32_t state = state_.load(std::memory_order_acquire);
      if (state == closed) break;
      wait_for_change(state_, state, has_cores_);
    }
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  struct alignas(line) Worker {
    std::atomic<std::uint32_t> calls{0};
    std::thread thread;
  };
  static constexpr std::uint32_t closed = std::uint32_t(1) << 31;

  static void call(Worker& worker) {
    worker.calls.fetch_add(1, std::memory_order_release);
    worker.calls.notify_one();
  }

  void serve(int number, Worker& self) {
    at_work = true;
    std::uint32_t seen = 0;
    std::uint64_t done = 0;  // a late call may find this thread in the next loop already
    for (;;) {
      wait_for_change(self.calls, seen, has_cores_.load(std::memory_order_relaxed));
      seen = self.calls.load(std::memory_order_acquire);
      if (stop_.load(std::memory_order_relaxed)) return;
      // From here to the other end of this step the loop cannot be closed and another begun.
      const bool open = (state_.fetch_add(1, std::memory_order_acquire) & closed) == 0;
      if (open && number < loop_.threads() && loop_.round() != done) {
        done = loop_.round();
        work_on(number);
      }
      if (state_.fetch_sub(1, std::memory_order_release) - 1 == closed) state_.notify_one();
    }
  }

  void work_on(int number) {
    try {
      Claims claims(loop_, number);
      work_.call(work_.object, claims);
    } catch (...) {
      loop_.fail();
      const std::lock_guard lock(failing_);
      if (!exception_) exception_ = std::current_exception();
    }
  }

  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Share[]> shares_;
  std::size_t capacity_ = 0;
  std::atomic<bool> has_cores_{true};
  std::atomic<bool> stop_{false};
  bool refused_ = false;
  const pid_t process_ = getpid();

  Loop loop_;
  WorkReference work_{};
  std::mutex failing_;
  std::exception_ptr exception_;
  std::atomic<std::uint32_t> state_{closed};  // `closed`, and how many workers are in the loop
};

class AtWork {
 public:
  AtWork() { at_work = true; }
  ~AtWork() { at_work = false; }
};

}  // namespace

void share_out(int threads, Offset count, Offset chunk, WorkReference work) {
  if (count <= 0) return;
  const Offset units = chunk > 0 ? (count - 1) / chunk + 1 : count;
  threads = static_cast<int>(std::min<Offset>(std::min(threads, max_threads), units));
  if (threads > 1 && !at_work) {
    thread_local Team team;
    threads = team.grow(threads);
    if (threads > 1) {
      const AtWork here;
      return team.run(threads, count, chunk, work);
    }
  }
  Share all;
  Loop loop;
  loop.begin(1, count, count, &all);  // all at once
  Claims claims(loop, 0);
  work.call(work.object, claims);
}

}  // namespace heddle::detail
