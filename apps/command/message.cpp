#include "message.hpp"

#include <cstdio>

#include "heddle/tools/text.hpp"
#include "run_program.hpp"

namespace heddle::cli {

void say(const std::string& text) {
  const std::string line = std::string(program_name) + ": " + io::printable(text) + "\n";
  std::fputs(line.c_str(), stderr);
}

void warn(const std::string& text) { say("warning: " + text); }

}  // namespace heddle::cli
