// --device and --threads: where a program works.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heddle/device.hpp"

namespace heddle::cli {

struct DeviceOption {
  std::string device = "cpu";
  int threads = 0;

  void add_to(CLI::App& command);
  /// Sets the number of threads for everything that follows. `auto` prints its choice on standard
  /// error, unless it is to be quiet. Throws `Error`.
  Device on(bool quiet) const;
};

}  // namespace heddle::cli
