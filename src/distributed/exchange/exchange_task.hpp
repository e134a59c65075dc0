// A separate thread that drives the exchange while others multiply.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "base/openmp_places.hpp"

namespace heddle::detail {

class ExchangeTask {
 public:
  ExchangeTask() : thread_([this] { run(); }) {}
  ~ExchangeTask();
  ExchangeTask(const ExchangeTask&) = delete;
  ExchangeTask& operator=(const ExchangeTask&) = delete;

  /// `work` must live until `wait` has returned, or thrown the exception of `work`.
  void start(const std::function<void()>& work);
  void wait();
  /// Same if an exception is already in flight.
  void wait_quietly() noexcept;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  // null where there is none
  std::exception_ptr thrown_;
  bool ends_ = false;
  const Processors processors_ = processors_to_take();  // the maker's
  std::thread thread_;
};

}  // namespace heddle::detail
