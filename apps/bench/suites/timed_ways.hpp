// Ways of doing one work, each checked and then timed.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "suite.hpp"

namespace heddle::bench {

using Queue = std::function<void(const Stream&)>;

/// One way of doing a record's work; it only queues.
struct TimedWay {
  Role role;
  std::string library;
  std::string method;
  Queue queue;
  std::function<double()> error = {};  // error of the last run's result, if it is checked
  Queue prepare = {};                  // called before that run
  bool on_host = false;                // waits for the host, so no graph can hold it
  /// The last run's result, if further runs are to be compared with it.
  std::function<std::vector<double>()> result = {};
  std::shared_ptr<const detail::ScheduledProduct> scheduled = {};  // if the work is that of one
};

/// Work for a way that is `on_host`: the queued work, and the wait for it.
inline Queue waiting(Queue queue, const Device& device) {
  return [queue = std::move(queue), device](const Stream& stream) {
    queue(stream);
    device.synchronize();
  };
}

/// A way filled in by `make(way)`; if that throws, the error becomes the way's failure.
template <class Make>
TimedWay way_of(Role role, std::string library, std::string method, const Make& make) {
  TimedWay way{role, std::move(library), std::move(method), [](const Stream&) {}};
  try {
    make(way);
  } catch (const std::exception& error) {
    way.prepare = [why = one_line(error.what())](const Stream&) {
      throw Error(ErrorKind::unsupported, why);
    };
  }
  return way;
}

/// The record with the time of each way; wrong ways are not timed.
Record measured(Session& session, Record record, const std::vector<TimedWay>& ways);

}  // namespace heddle::bench
