#include "report_lines.hpp"

#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <iostream>

#include "json_report.hpp"

namespace heddle::cli {

std::string formatted(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, values);
  va_end(values);
  std::string text(static_cast<std::size_t>(length > 0 ? length : 0), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

void ReportLines::print() const {
  for (const auto& [label, text] : lines_) std::printf("%-10s %s\n", label.c_str(), text.c_str());
  std::printf("%s", after_.c_str());
}

void tell(ReportLines& report, bool as_json, bool is_quiet) {
  if (as_json) {
    std::cout << text_of(report.json());
  } else if (!is_quiet) {
    report.print();
  }
}

}  // namespace heddle::cli
