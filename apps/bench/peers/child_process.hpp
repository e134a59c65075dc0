// A program that serves lines: one is written to it, one comes back.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle::bench {

class ChildProcess {
 public:
  /// Starts `arguments[0]`, looked for on PATH, with `environment` ("NAME=value") beside that of
  /// this process. Throws `Error` (io).
  ChildProcess(const std::vector<std::string>& arguments,
               const std::vector<std::string>& environment);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Closes its input, waits for a few seconds, and ends it if it has not ended by then.
  ~ChildProcess();

  /// The next line that it says. Throws `Error` (io) with the first line of its standard error
  /// where it has ended, or has said nothing for `seconds`; it is ended then.
  std::string read_line(double seconds);
  /// Says a line and reads the answer, likewise.
  std::string ask(const std::string& line, double seconds);

 private:
  [[noreturn]] void give_up(const std::string& what);
  bool wait_for(double seconds);
  void end();

  std::string name_;
  pid_t process_ = -1;
  int lines_ = -1;       // a socket: its input and output
  int complaints_ = -1;  // a file without a name: its standard error
  std::string unread_;
};

}  // namespace heddle::bench
