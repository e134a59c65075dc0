#include "output_path.hpp"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "heddle/error.hpp"
#include "heddle/output_file.hpp"

namespace heddle::cli {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

void check_output(const std::string& option, const std::string& path) {
  namespace fs = std::filesystem;
  if (path.empty()) throw Error(ErrorKind::usage, option + " is empty; name the file to write");
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(ErrorKind::io, path + " is a folder; name a file to write in it");
  }
  // Pipes and devices are written to in place, files beside their target.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return;
  const std::string folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : ".";
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorKind::io, "cannot write " + path + ": there is no folder " + folder);
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    throw Error(ErrorKind::io, "cannot write " + path + ": no permission to write in " + folder);
  }
}

namespace {

bool are_same(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::equivalent(a, b, failed)) return fs::is_regular_file(a, failed);
  return fs::weakly_canonical(fs::absolute(a, failed), failed) ==
         fs::weakly_canonical(fs::absolute(b, failed), failed);
}

}  // namespace

void check_distinct(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    const auto check = [&](const NamedFile& other, const char* is) {
      if (are_same(output.path, other.path)) {
        throw Error(ErrorKind::usage,
                    output.option + " " + output.path + " is the file that " + other.option + is);
      }
    };
    for (const NamedFile& input : inputs) check(input, " reads");
    for (std::size_t j = 0; j < i; ++j) check(outputs[j], " writes");
  }
}

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  file.write(text);
  file.commit();
}

}  // namespace heddle::cli
