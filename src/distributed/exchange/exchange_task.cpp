#include "exchange_task.hpp"

#include <utility>

namespace heddle::detail {

ExchangeTask::~ExchangeTask() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ExchangeTask::start(const std::function<void()>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
  }
  changed_.notify_all();
}

void ExchangeTask::wait() {
  wait_quietly();
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void ExchangeTask::wait_quietly() noexcept {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return work_ == nullptr; });
}

void ExchangeTask::run() {
  take_processors(processors_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || work_ != nullptr; });
    if (ends_) return;
    const std::function<void()>& work = *work_;
    lock.unlock();
    std::exception_ptr thrown;
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    thrown_ = thrown;
    work_ = nullptr;
    changed_.notify_all();
  }
}

}  // namespace heddle::detail
