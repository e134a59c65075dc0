// Pages of HTML that stand alone: no network, no script, light and dark as the reader has it.
#pragma once

#include <string>

namespace heddle::report {

/// The whole page around `body`, which is HTML; `title` is not.
std::string page(const std::string& title, const std::string& body);

/// <name>words</name>, the words escaped.
std::string element(const std::string& name, const std::string& words);
/// A term and what it is, of a list of definitions; nothing where there are no words.
std::string definition(const std::string& term, const std::string& words);

// Tick texts of axes.
std::string seconds_tick(double seconds);
std::string bytes_tick(double bytes);
std::string bandwidth_tick(double bytes_a_second);
std::string count_tick(double count);
std::string power_tick(double value);

}  // namespace heddle::report
