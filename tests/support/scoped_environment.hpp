// Sets an environment variable for a test, and restores it afterwards.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>
#include <utility>

namespace heddle::test {

class ScopedEnvironment {
 public:
  /// With nullptr, the variable is not set.
  ScopedEnvironment(std::string name, const char* value) : name_(std::move(name)) {
    if (const char* old = std::getenv(name_.c_str())) old_ = old;
    set(value);
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) {
    value == nullptr ? unsetenv(name_.c_str()) : setenv(name_.c_str(), value, 1);
  }

  std::string name_;
  std::optional<std::string> old_;
};

}  // namespace heddle::test
