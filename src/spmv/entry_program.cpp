#include "entry_program.hpp"

#include <utility>

namespace heddle::cuda {

KernelSource program_over(const EntryText& entry, std::string name, const std::string& text) {
  KernelSource source;
  source.name = std::move(name);
  for (const std::string& header : entry.headers) {
    source.text += "#include \"" + header + "\"\n";
    if (!header.starts_with("heddle/entries/")) {
      source.headers.push_back({header, std::string(entry_header(header))});
    }
  }
  source.text += text;
  return source;
}

}  // namespace heddle::cuda
