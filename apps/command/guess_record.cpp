#include "guess_record.hpp"

#include <cstdio>

#include "json_report.hpp"
#include "readable.hpp"

namespace heddle::cli {

nlohmann::ordered_json to_json(const GuessRecord& guesses) {
  nlohmann::ordered_json json = {{"most", guesses.most}, {"guesses", guesses.count}};
  if (guesses.count == 0) return json;
  json["used"] = guesses.used();
  json["residual_before"] = number_or_null(guesses.residual_before());
  json["residual"] = number_or_null(guesses.residual());
  return json;
}

std::string text_of(const GuessRecord& guesses) {
  char text[200];
  std::snprintf(text, sizeof text,
                "for %s systems, from %.1f earlier solutions each (at most %lld): |b - A x| / |b| "
                "goes from %.1e to %.1e before the iterations",
                readable_count(guesses.count).c_str(), guesses.used(), guesses.most,
                guesses.residual_before(), guesses.residual());
  return text;
}

}  // namespace heddle::cli
