// The file to which a tuning writes its profile.
#pragma once

#include <optional>
#include <string>

#include "heddle/tuning/profile.hpp"

namespace heddle::cli {

class ProfileDestination {
 public:
  /// `output` names the file. Without it, the file is that of this device in `profile_folder()`,
  /// and the profile is merged with its contents, as with `append`. Throws `Error` before anything
  /// is measured if no file can appear there, or if the contents to merge with are no profile of
  /// this device.
  ProfileDestination(const std::optional<std::string>& output, bool append, const Device& device);

  const std::string& path() const { return path_; }
  /// Merges with the current contents, which other runs may have written meanwhile.
  void write(const Profile& found) const;

 private:
  std::string path_;
  bool merges_;
};

}  // namespace heddle::cli
