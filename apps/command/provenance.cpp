#include "provenance.hpp"

#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>

#include "heddle_commit.hpp"
#include "run_program.hpp"

namespace heddle::cli {

std::string utc(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[40];
  const std::size_t length = std::strftime(text, sizeof text, format, &parts);
  return {text, length};
}

std::string commit() { return built_commit; }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::istringstream arguments(std::string(std::istreambuf_iterator<char>(file), {}));
  std::string text = program_name;
  std::string argument;
  std::getline(arguments, argument, '\0');
  while (std::getline(arguments, argument, '\0')) text += " " + argument;
  return text;
}

}  // namespace heddle::cli
