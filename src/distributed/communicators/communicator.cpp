#include "heddle/communicator.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <optional>

namespace heddle {

namespace {

/// The exception that is being handled.
Error current_error() {
  const auto error_of = [](ErrorKind kind, const std::string& why) {
    return Error(kind, why.empty() ? "an error without a message" : why);
  };
  try {
    throw;
  } catch (const Error& error) {
    return error_of(error.kind(), error.what());
  } catch (const std::bad_alloc&) {
    return Error(ErrorKind::memory, "out of memory");
  } catch (const std::exception& error) {
    return error_of(ErrorKind::internal, error.what());
  } catch (...) {
    return Error(ErrorKind::internal, "an exception that is not a std::exception");
  }
}

void fail_for_current(Communicator& ranks) noexcept {
  try {
    const Error error = current_error();
    ranks.fail(error.kind(), error.what());
  } catch (...) {  // no memory is left for the text
    ranks.fail(ErrorKind::memory, "out of memory");
  }
}

std::optional<Error> error_of(const std::function<void()>& body) {
  try {
    body();
    return std::nullopt;
  } catch (...) {
    return current_error();
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

std::string text_of_rank(Communicator& ranks, int speaker, const std::string& text) {
  const bool speaks = ranks.rank() == speaker;
  const auto size = static_cast<long long>(text.size());
  const auto at = static_cast<std::size_t>(speaker);
  const long long length = gather(ranks, size)[at];
  std::vector<int> sizes(static_cast<std::size_t>(ranks.size()));
  sizes[at] = static_cast<int>(length);
  std::string spoken(static_cast<std::size_t>(length), ' ');
  ranks.all_gather(std::as_bytes(std::span(text.data(), speaks ? text.size() : 0)),
                   std::as_writable_bytes(std::span(spoken.data(), spoken.size())), sizes);
  return spoken;
}

void guard(Communicator& ranks, const std::function<void()>& body) {
  try {
    body();
  } catch (...) {
    fail_for_current(ranks);
    throw;
  }
}

void together(Communicator& ranks, const std::function<void()>& body) {
  const std::optional<Error> error = error_of(body);
  constexpr long long none = -1;
  const std::vector<long long> kinds =
      gather(ranks, error ? static_cast<long long>(error->kind()) : none);
  const auto first = std::find_if(kinds.begin(), kinds.end(), [](auto k) { return k != none; });
  if (first == kinds.end()) return;
  const auto speaker = static_cast<int>(first - kinds.begin());
  throw Error(static_cast<ErrorKind>(*first),
              text_of_rank(ranks, speaker, error ? error->what() : ""));
}

}  // namespace heddle
