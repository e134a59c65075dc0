#include "profile_destination.hpp"

#include <cctype>
#include <filesystem>
#include <system_error>

#include "base/text/environment.hpp"
#include "heddle/plan_choice.hpp"
#include "output_path.hpp"

namespace heddle::cli {

namespace {

namespace fs = std::filesystem;

/// The device's name and the other properties that make its class, in lower-case letters and
/// digits.
std::string file_name_of(const DeviceProperties& device) {
  const std::string words =
      device.name + " " +
      (device.gpu ? "sm" + std::to_string(device.architecture) : device.instructions);
  std::string name;
  for (const char c : words) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name + ".json";
}

std::string path_in_cache(const DeviceProperties& here) {
  const std::string folder = profile_folder();
  if (folder.empty()) {
    throw Error(ErrorKind::io, "there is no home folder for profiles; name a file with --output");
  }
  if (const std::error_code failed = make_private_folder(folder)) {
    throw Error(ErrorKind::io, "cannot create the profile folder " + folder + ": " +
                                   failed.message() + "; name a file with --output");
  }
  return (fs::path(folder) / file_name_of(here)).string();
}

}  // namespace

ProfileDestination::ProfileDestination(const std::optional<std::string>& output, bool append,
                                       const Device& device)
    : merges_(append || !output) {
  const DeviceProperties here = properties_of(device);
  path_ = output ? *output : path_in_cache(here);
  check_output(path_);
  if (!merges_ || !fs::exists(path_)) return;
  const std::string difference = why_another_class(Profile::load(path_).device, here);
  if (!difference.empty()) {
    throw Error(ErrorKind::bad_plan, path_ + " is a profile of another device: " + difference);
  }
}

void ProfileDestination::write(const Profile& found) const {
  if (merges_) {
    found.merge_into(path_);
  } else {
    found.save(path_);
  }
}

}  // namespace heddle::cli
