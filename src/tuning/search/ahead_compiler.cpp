#include "ahead_compiler.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/cores.hpp"
#include "base/openmp_places.hpp"
#include "base/text/hash.hpp"

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

/// Returns false if the work fails: `Trials::prepare` will report the reason.
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
      max_threads_(threads != 0 ? threads
                                : static_cast<unsigned>(std::max(2, usable_cores()) - 1)) {}

AheadCompiler::~AheadCompiler() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
    soon_.replace({});
    later_.replace({});
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void AheadCompiler::Waiting::replace(const std::vector<Plan>& by) {
  sources.clear();
  plans.assign(by.begin(), by.end());
  ++announcement;
}

void AheadCompiler::announce(const std::vector<Plan>& plans) {
  const std::lock_guard lock(mutex_);
  soon_.replace(plans);
  later_.replace({});
  if (!plans.empty()) start_threads();
  changed_.notify_all();
}

void AheadCompiler::announce_later(const std::vector<Plan>& plans) {
  const std::lock_guard lock(mutex_);
  later_.replace(plans);
  if (!plans.empty()) start_threads();
  changed_.notify_all();
}

/// Starts as many as the system allows; with none, kernels are compiled where they are needed.
void AheadCompiler::start_threads() {
  if (threads_.size() >= max_threads_) return;
  const Processors processors = processors_to_take();
  while (threads_.size() < max_threads_ && succeeds([&] {
           threads_.emplace_back([this, processors] {
             take_processors(processors);
             work();
           });
         })) {
  }
}

void AheadCompiler::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(
      lock, [&] { return threads_.empty() || (soon_.empty() && later_.empty() && busy_ == 0); });
}

bool AheadCompiler::take(Waiting& waiting, cuda::KernelSource& source,
                         std::unique_lock<std::mutex>& lock) {
  for (;;) {
    while (!waiting.sources.empty()) {
      source = std::move(waiting.sources.front());
      waiting.sources.pop_front();
      if (begun_.insert(key_of(source)).second) return true;
    }
    // Plans needed soon come first.
    if (waiting.plans.empty() || (&waiting == &later_ && !soon_.empty())) return false;
    const Plan plan = waiting.plans.front();
    waiting.plans.pop_front();
    const int announcement = waiting.announcement;
    lock.unlock();
    std::vector<cuda::KernelSource> made;
    succeeds([&] { made = kernels_of_(plan); });
    lock.lock();
    if (stops_) return false;
    if (waiting.announcement != announcement) continue;
    waiting.sources.insert(waiting.sources.end(), std::make_move_iterator(made.begin()),
                           std::make_move_iterator(made.end()));
    if (waiting.sources.size() > 1) changed_.notify_all();
  }
}

void AheadCompiler::work() {
  std::unique_lock lock(mutex_);
  while (!stops_) {
    const bool is_later = soon_.empty() && may_begin_later();
    ++busy_;
    later_busy_ += is_later ? 1 : 0;
    cuda::KernelSource source;
    const bool found = take(is_later ? later_ : soon_, source, lock);
    if (found) {
      lock.unlock();
      succeeds([&] { compile_(source); });
      lock.lock();
    }
    --busy_;
    later_busy_ -= is_later ? 1 : 0;
    changed_.notify_all();
    if (!found) changed_.wait(lock, [&] { return stops_ || has_work(); });
  }
}

}  // namespace heddle
