// Entry definitions from arbitrary bytes: either they are refused in one line that names the
// source, or they print and their operators run.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/runtime/entry_definition.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const heddle::EntryDefinition definition = heddle::parse_entry_definition(text, "f");
    if (heddle::cuda_text(definition).find(definition.components[0]) == std::string::npos) {
      std::abort();
    }
    if (definition.has_inverse()) {
      const std::vector<double> zero(static_cast<std::size_t>(definition.size()));
      std::vector<double> inverse(zero), registers;
      heddle::invert(definition, zero.data(), inverse.data(), registers);
    }
  } catch (const heddle::Error& error) {
    const std::string message = error.what();
    if (message.rfind("f: ", 0) != 0) std::abort();
    for (const char c : message) {
      if (c < ' ' || c > '~') std::abort();
    }
  }
  return 0;
}
