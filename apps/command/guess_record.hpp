// What guesses from earlier solutions saved, over the systems of a run.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/earlier_solutions.hpp"

namespace heddle::cli {

/// Only systems for which earlier solutions were of use count.
struct GuessRecord {
  long long most = 0;  // solutions that a guess is made of, at most
  long long count = 0;

  void add(const EarlierGuess& guess) {
    if (guess.used == 0 || !(guess.residual > 0)) return;
    ++count;
    sum_used_ += static_cast<double>(guess.used);
    sum_before_ += std::log(guess.residual_before);
    sum_after_ += std::log(guess.residual);
  }

  /// Independent directions that a guess had, on average.
  double used() const { return sum_used_ / static_cast<double>(count); }
  /// |b - A x| / |b| of x as it came and of the guess: geometric means.
  double residual_before() const { return std::exp(sum_before_ / static_cast<double>(count)); }
  double residual() const { return std::exp(sum_after_ / static_cast<double>(count)); }

 private:
  double sum_used_ = 0, sum_before_ = 0, sum_after_ = 0;
};

nlohmann::ordered_json to_json(const GuessRecord& guesses);
/// The same as a line, of a record of at least one.
std::string text_of(const GuessRecord& guesses);

}  // namespace heddle::cli
