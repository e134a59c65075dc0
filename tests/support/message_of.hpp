#pragma once

#include <string>

#include "heddle/error.hpp"

namespace heddle::test {

/// The message of the `Error` that `act` throws.
template <class Act>
std::string message_of(const Act& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace heddle::test
