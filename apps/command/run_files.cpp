#include "run_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "heddle/error.hpp"
#include "heddle/tools/output_file.hpp"
#include "output_path.hpp"

namespace heddle::cli {

namespace {

/// Identity of a file under any of its names: the file itself if it exists, else its name in a
/// folder.
struct Place {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;

  bool operator==(const Place&) const = default;
};

/// None for pipes and devices, in which nothing can be lost, and where no file can be.
std::optional<Place> place_of(const std::string& path) {
  std::string target;
  try {
    target = written_path(path);
  } catch (const Error&) {
    return std::nullopt;
  }
  struct stat status{};
  if (stat(target.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode)) return std::nullopt;
    return Place{status.st_dev, status.st_ino, ""};
  }
  const std::filesystem::path file(target);
  if (stat(file.parent_path().c_str(), &status) != 0) return std::nullopt;
  return Place{status.st_dev, status.st_ino, file.filename().string()};
}

/// The file that `>>` leads standard output to; `>` would have emptied it already.
std::optional<Place> place_of_standard_output() {
  struct stat status{};
  if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return Place{status.st_dev, status.st_ino, ""};
}

}  // namespace

void RunFiles::reads(const std::string& by, const std::string& path) {
  if (!path.empty()) inputs_.push_back({by, path});
}

void RunFiles::reads(const std::string& by, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) reads(by, path);
}

void RunFiles::writes(const std::string& option, const std::optional<std::string>& path) {
  if (path) outputs_.push_back({option, *path});
}

void RunFiles::check() const {
  struct Known {
    const File& file;
    const char* does;
    std::optional<Place> place;
  };
  std::vector<Known> others;
  others.reserve(inputs_.size() + outputs_.size());
  for (const File& input : inputs_) others.push_back({input, " reads", place_of(input.path)});
  const auto refuse_known = [&](const std::string& name, const std::optional<Place>& place) {
    for (const Known& other : others) {
      if (!place || place != other.place) continue;
      throw Error(ErrorKind::usage, name + " is the file that " + other.file.by + other.does);
    }
  };
  refuse_known("standard output", place_of_standard_output());
  for (const File& output : outputs_) {
    check_output(output.path);
    const std::optional<Place> place = place_of(output.path);
    refuse_known(output.by + " " + output.path, place);
    others.push_back({output, " writes", place});
  }
}

}  // namespace heddle::cli
