#include "case_object.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "heddle/error.hpp"
#include "message_text.hpp"

namespace heddle::simulation {

using nlohmann::json;

namespace {

/// Number of insertions, deletions and exchanges that turn one word into the other (Levenshtein).
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

/// "; did you mean young?" if a word is similar, else "; there are: young, poisson".
std::string advice(const std::string& word, std::initializer_list<const char*> known) {
  const char* nearest = nullptr;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  std::string all;
  for (const char* candidate : known) {
    const std::size_t away = distance(word, candidate);
    if (away < least) {
      least = away;
      nearest = candidate;
    }
    all += std::string(all.empty() ? "" : ", ") + candidate;
  }
  return nearest != nullptr ? std::string("; did you mean ") + nearest + "?"
                            : "; there are: " + all;
}

}  // namespace

bool Range::holds(double value) const {
  return (min_is_in ? value >= least : value > least) && (max_is_in ? value <= most : value < most);
}

std::string Range::text() const {
  std::string below, above;
  if (least > -unbounded) above = (min_is_in ? "at least " : "above ") + shortest(least);
  if (most < unbounded) below = (max_is_in ? "at most " : "below ") + shortest(most);
  return above + (above.empty() || below.empty() ? "" : " and ") + below;
}

CaseObject::CaseObject(const json& value, std::string file, std::string path)
    : value_(value), file_(std::move(file)), path_(std::move(path)) {
  if (!value.is_object()) refuse(path_, "must be an object");
}

void CaseObject::refuse(const std::string& path, const std::string& what) const {
  throw Error(ErrorKind::malformed_file,
              file_ + ": " + (path.empty() ? "the file" : path) + " " + what);
}

void CaseObject::check_keys(std::initializer_list<const char*> known) const {
  for (const auto& [key, value] : value_.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      refuse(path_of(printable(key)), "is not known" + advice(key, known));
    }
  }
}

const json& CaseObject::at(const char* key) const {
  if (!has(key)) refuse(path_of(key), "is missing");
  return value_[key];
}

CaseObject CaseObject::object(const char* key) const { return {at(key), file_, path_of(key)}; }

double CaseObject::number(const char* key, const Range& range) const {
  const json& value = at(key);
  if (!value.is_number()) refuse(path_of(key), "must be a number");
  const auto number = value.get<double>();
  if (!std::isfinite(number)) refuse(path_of(key), "is beyond the range of a double");
  if (!range.holds(number)) {
    refuse(path_of(key), "must be " + range.text() + ", not " + shortest(number));
  }
  return number;
}

long long CaseObject::count(const char* key, long long least, long long most) const {
  const json& value = at(key);
  if (!value.is_number_integer()) refuse(path_of(key), "must be a whole number");
  const bool too_large =
      value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(most);
  const long long number = too_large ? most + 1 : value.get<long long>();
  if (number < least || number > most) {
    refuse(path_of(key), "must be from " + std::to_string(least) + " to " + std::to_string(most) +
                             ", not " + value.dump());
  }
  return number;
}

Point CaseObject::point(const char* key) const {
  const json& value = at(key);
  const auto is_finite = [](const json& part) {
    return part.is_number() && std::isfinite(part.get<double>());
  };
  if (!value.is_array() || value.size() != 3 ||
      !std::all_of(value.begin(), value.end(), is_finite)) {
    refuse(path_of(key), "must be three numbers");
  }
  return {value[0].get<double>(), value[1].get<double>(), value[2].get<double>()};
}

std::string CaseObject::text_of(const char* key, std::initializer_list<const char*> values) const {
  const json& value = at(key);
  if (!value.is_string()) refuse(path_of(key), "must be a string");
  const auto text = value.get<std::string>();
  if (std::find(values.begin(), values.end(), text) == values.end()) {
    refuse(path_of(key), "'" + printable(text) + "' is not known" + advice(text, values));
  }
  return text;
}

}  // namespace heddle::simulation
