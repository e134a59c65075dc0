#include "heddle/rank_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text/names.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

constexpr std::string_view mode_names[] = {"vector", "naive", "task"};
constexpr std::string_view storage_names[] = {"whole", "split"};

}  // namespace

std::string_view name(ExchangeMode mode) { return mode_names[static_cast<std::size_t>(mode)]; }

ExchangeMode parse_exchange_mode(std::string_view name) {
  const auto found = std::find_if(std::begin(mode_names), std::end(mode_names),
                                  [&](std::string_view mode) { return is_same_name(mode, name); });
  if (found == std::end(mode_names)) {
    throw Error(ErrorKind::usage,
                "the mode of exchange is vector, naive or task, not " + std::string(name));
  }
  return static_cast<ExchangeMode>(found - std::begin(mode_names));
}

std::string_view name(BoundaryStorage storage) {
  return storage_names[static_cast<std::size_t>(storage)];
}

BoundaryStorage parse_boundary_storage(std::string_view name) {
  const auto found =
      std::find_if(std::begin(storage_names), std::end(storage_names),
                   [&](std::string_view storage) { return is_same_name(storage, name); });
  if (found == std::end(storage_names)) {
    throw Error(ErrorKind::usage,
                "rows of the boundary are stored whole or split, not " + std::string(name));
  }
  return static_cast<BoundaryStorage>(found - std::begin(storage_names));
}

}  // namespace heddle
