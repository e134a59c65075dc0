// Ctrl-C that a run may answer in its own time.
#pragma once

namespace heddle::heart {

/// While it lives, SIGINT, SIGTERM and SIGHUP only set a flag, unless the parent ignores them. A
/// second signal ends the program as it would without this object. Only one may live at a time.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool has_come() const;

 private:
  using Handler = void (*)(int);
  Handler before_[3] = {};
};

}  // namespace heddle::heart
