// The work that guesses from earlier solutions saved, over the systems of a run.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/earlier_solutions.hpp"

namespace heddle::cli {

/// Counts only systems for which earlier solutions were of use.
struct GuessRecord {
  long long most = 0;  // most solutions that a guess is made of
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
  /// |b - A x| / |b| of the initial x and of the guess: geometric means.
  double residual_before() const { return std::exp(sum_before_ / static_cast<double>(count)); }
  double residual() const { return std::exp(sum_after_ / static_cast<double>(count)); }

 private:
  double sum_used_ = 0, sum_before_ = 0, sum_after_ = 0;
};

nlohmann::ordered_json to_json(const GuessRecord& guesses);
/// The record as a line of text; it must count at least one system.
std::string text_of(const GuessRecord& guesses);

}  // namespace heddle::cli
