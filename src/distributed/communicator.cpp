#include "heddle/communicator.hpp"

#include <algorithm>
#include <exception>
#include <new>

namespace heddle {

namespace {

struct Reason {
  ErrorKind kind = ErrorKind::internal;
  std::string why;
};

/// What `body` throws; no text where it throws nothing.
Reason reason_of(const std::function<void()>& body) {
  try {
    body();
    return {};
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::memory, "out of memory"};
  } catch (const std::exception& error) {
    return {ErrorKind::internal, error.what()};
  }
}

}  // namespace

std::vector<long long> gather(Communicator& ranks, long long mine) {
  const auto count = static_cast<std::size_t>(ranks.size());
  std::vector<long long> all(count);
  const std::vector<int> sizes(count, static_cast<int>(sizeof mine));
  ranks.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(all)),
                   sizes);
  return all;
}

void together(Communicator& ranks, const std::function<void()>& body) {
  const Reason reason = reason_of(body);
  const bool failed = !reason.why.empty();
  const std::vector<long long> lengths = gather(ranks, static_cast<long long>(reason.why.size()));
  const auto first = std::find_if(lengths.begin(), lengths.end(), [](auto n) { return n > 0; });
  if (first == lengths.end()) return;
  const auto speaker = first - lengths.begin();
  const std::vector<long long> kinds = gather(ranks, static_cast<long long>(reason.kind));
  std::vector<int> sizes(lengths.size());
  sizes[static_cast<std::size_t>(speaker)] = static_cast<int>(*first);
  std::string why(static_cast<std::size_t>(*first), ' ');
  const bool speaks = failed && ranks.rank() == speaker;
  const std::string mine = speaks ? reason.why : std::string();
  ranks.all_gather(std::as_bytes(std::span(mine.data(), mine.size())),
                   std::as_writable_bytes(std::span(why.data(), why.size())), sizes);
  throw Error(static_cast<ErrorKind>(kinds[static_cast<std::size_t>(speaker)]), why);
}

}  // namespace heddle
