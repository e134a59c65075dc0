#include "entry_program.hpp"

#include <utility>

namespace heddle::cuda {

KernelSource program_over(const EntryText& entry, std::string name, const std::string& text) {
  KernelSource source;
  source.name = std::move(name);
  for (const std::string& header : entry.headers) {
    source.text += "#include \"" + header + "\"\n";
    if (const auto own = entry.texts.find(header); own != entry.texts.end()) {
      source.headers.push_back({header, own->second});
    } else if (!header.starts_with("heddle/")) {
      source.headers.push_back({header, std::string(entry_header(header))});
    }
  }
  source.text += text;
  return source;
}

// A header may read differently for the host and the GPU. An entry is its array of components and
// nothing more, so that its size leaves them no offset other than 0.
std::string entry_assertions(const EntryShape& shape) {
  std::string text;
  const auto expect = [&](const std::string& of_gpu, int of_host, const char* what) {
    text += "static_assert(" + of_gpu + " == " + std::to_string(of_host) +
            ",\n  \"heddle entry: " + what + " on the host: " + std::to_string(of_host) +
            ", different on the GPU\");\n";
  };
  const std::string entry = "Plan::entry", arithmetic = "heddle::arithmetic_t<Plan::entry>";
  expect(entry + "::components", shape.components, "components");
  expect("sizeof(heddle::stored_scalar_t<Plan::entry>)", shape.stored_bytes,
         "bytes of a stored scalar");
  expect("sizeof(Plan::entry)", shape.components * shape.stored_bytes, "bytes of an entry");
  expect("heddle::vector_entry_t<Plan::entry>::components", shape.vector_components,
         "components of a vector entry");
  expect("heddle::result_entry_t<Plan::entry>::components", shape.result_components,
         "components of a result entry");
  expect("heddle::ring_size(" + arithmetic + "::ring)", shape.ring, "components of its ring");
  return text;
}

}  // namespace heddle::cuda
