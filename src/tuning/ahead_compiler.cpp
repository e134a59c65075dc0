#include "ahead_compiler.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "../base/hash.hpp"

namespace heddle {

namespace {

std::string key_of(const cuda::KernelSource& source) {
  std::string all = source.text;
  for (const cuda::NamedText& header : source.headers) {
    all.append(1, '\0').append(header.name).append(1, '\0').append(header.text);
  }
  for (const std::string& option : source.options) all.append(1, '\0').append(option);
  return to_string(hash(all));
}

/// False where it fails: `Trials::prepare` will say why.
template <class Work>
bool succeeds(const Work& work) {
  try {
    work();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

AheadCompiler::AheadCompiler(KernelsOf kernels_of, Compile compile, unsigned threads)
    : kernels_of_(std::move(kernels_of)),
      compile_(std::move(compile)),
      most_threads_(threads != 0 ? threads
                                 : std::max(2u, std::thread::hardware_concurrency()) - 1) {}

AheadCompiler::~AheadCompiler() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    plans_.clear();
    sources_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void AheadCompiler::announce(std::vector<Plan> plans) {
  {
    const std::lock_guard lock(mutex_);
    sources_.clear();
    plans_.assign(plans.begin(), plans.end());
    if (plans.empty()) return;
    // As many as the system has left; with none, kernels are compiled where they are needed.
    while (threads_.size() < most_threads_ &&
           succeeds([&] { threads_.emplace_back([this] { work(); }); })) {
    }
  }
  changed_.notify_all();
}

void AheadCompiler::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return threads_.empty() || (plans_.empty() && sources_.empty() && busy_ == 0); });
}

bool AheadCompiler::take(cuda::KernelSource& source, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    while (!sources_.empty()) {
      source = std::move(sources_.front());
      sources_.pop_front();
      if (begun_.insert(key_of(source)).second) return true;
    }
    if (plans_.empty()) return false;
    const Plan plan = plans_.front();
    plans_.pop_front();
    lock.unlock();
    std::vector<cuda::KernelSource> made;
    succeeds([&] { made = kernels_of_(plan); });
    lock.lock();
    if (stops_) return false;
    sources_.insert(sources_.end(), std::make_move_iterator(made.begin()),
                    std::make_move_iterator(made.end()));
    if (sources_.size() > 1) changed_.notify_all();
  }
}

void AheadCompiler::work() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    ++busy_;
    cuda::KernelSource source;
    if (take(source, lock)) {
      lock.unlock();
      succeeds([&] { compile_(source); });
      lock.lock();
      --busy_;
      continue;
    }
    --busy_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return stops_ || !plans_.empty() || !sources_.empty(); });
  }
}

}  // namespace heddle
