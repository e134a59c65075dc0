// Libraries that are opened at first use: heddle is built without them and starts without them.
#pragma once

#include <string>
#include <vector>

#include "heddle/export.hpp"

namespace heddle {

/// Stays open until the program ends.
class HEDDLE_EXPORT SharedLibrary {
 public:
  /// Opens the library that the environment variable `variable` names, a file or a folder that
  /// holds one of `names`; if that is not set, the first of `names` that can be opened from the
  /// loader's path, or from lib64 or lib of $CUDA_HOME or /usr/local/cuda. Throws `Error`
  /// (no_device) that names what was looked for.
  SharedLibrary(const std::string& variable, const std::vector<std::string>& names);

  /// Throws `Error` (unsupported) if the library has no such function.
  template <class F>
  void find(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(address(name));
  }
  /// Null if the library has no such function.
  template <class F>
  void find_if_there(F*& function, const char* name) const {
    function = reinterpret_cast<F*>(address_or_null(name));
  }

  const std::string& path() const { return path_; }

 private:
  bool open(const std::string& path);
  void* address(const char* name) const;
  void* address_or_null(const char* name) const;

  void* library_ = nullptr;
  std::string path_;  // the name given to the loader
};

/// The file of the library or program that holds the function at `code`, as the loader names it;
/// empty if it knows none.
HEDDLE_EXPORT std::string file_of(const void* code);

}  // namespace heddle
