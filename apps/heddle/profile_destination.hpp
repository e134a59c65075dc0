// Where the profile of a tuning goes.
#pragma once

#include <optional>
#include <string>

#include "heddle/tuning/profile.hpp"

namespace heddle::cli {

class ProfileDestination {
 public:
  /// `output`; without it the file of this device in `profile_folder()`, whose profile is merged
  /// with what is there, as with `append`. Throws `Error` before anything is measured: where no
  /// file can appear, and where one is to be merged with that is no profile of this device.
  ProfileDestination(const std::optional<std::string>& output, bool append, const Device& device);

  const std::string& path() const { return path_; }
  /// Merges with what is there by now: other runs may have written meanwhile.
  void write(const Profile& found) const;

 private:
  std::string path_;
  bool merges_;
};

}  // namespace heddle::cli
