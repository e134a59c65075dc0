// A program that serves lines: it reads one and answers with one.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::bench {

class ChildProcess {
 public:
  /// Starts `arguments[0]`, looked up on PATH, with `environment` ("NAME=value") in addition to
  /// that of this process. Throws `Error` (io).
  ChildProcess(const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Closes the program's input, waits for a few seconds, and ends the program if it still runs.
  ~ChildProcess();

  /// The next line that the program writes. Throws `Error` (io) with the first line of its standard
  /// error where it has ended, or ends it because it has written nothing for `seconds`.
  std::string read_line(double seconds);
  /// Sends a line and reads the answer, with the same errors.
  std::string ask(const std::string& line, double seconds);

 private:
  [[noreturn]] void give_up(const std::string& what);
  bool wait_for(double seconds);
  void end();

  std::string name_;
  pid_t process_ = -1;
  int lines_ = -1;       // a socket: the program's input and output
  int complaints_ = -1;  // an unnamed file: the program's standard error
  std::string unread_;
};

}  // namespace heddle::bench
