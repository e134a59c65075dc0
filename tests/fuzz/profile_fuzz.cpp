// Profiles from arbitrary bytes: either they are refused in one line that names the source, or they
// are written, read again as the same, and answer.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "heddle/tuning/profile.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const heddle::Profile profile = heddle::Profile::from_json(text, "f");
    const std::string written = profile.to_json();
    if (heddle::Profile::from_json(written, "f").to_json() != written) std::abort();
    for (const heddle::ProfileRecord& record : profile.records) {
      const heddle::PlanQuery query{record.entry, record.precision, record.objective,
                                    record.fingerprint, record.features};
      if (!find(profile, query)) std::abort();
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
