// HTML pages that stand alone: no network, no script, light or dark as the reader prefers.
#pragma once

#include <string>

namespace heddle::report {

/// The whole page around `body`, which is HTML; `title` is plain text.
std::string page(const std::string& title, const std::string& body);

/// <name>words</name>, the words escaped.
std::string element(const std::string& name, const std::string& words);
/// A term and its description, in a list of definitions; nothing if there are no words.
std::string definition(const std::string& term, const std::string& words);

// Tick texts of axes.
std::string seconds_tick(double seconds);
std::string bytes_tick(double bytes);
std::string bandwidth_tick(double bytes_a_second);
std::string count_tick(double count);
std::string power_tick(double value);

}  // namespace heddle::report
