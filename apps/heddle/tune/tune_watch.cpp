#include "tune_watch.hpp"

#include <algorithm>

#include "plan_names.hpp"

namespace heddle::cli {

TuneWatch::TuneWatch(std::vector<tuning::MatrixReport>& matrices, Progress* progress)
    : matrices_(matrices), progress_(progress) {}

void TuneWatch::listen(TuneOptions& options) {
  options.on_matrix = [this](const std::string& name) { begin(name); };
  options.on_trial = [this](const Trial& trial) {
    if (current_ == nullptr) return;
    current_->trials.push_back(trial);
    current_->seconds = since_.seconds();
  };
  options.on_early_end = [this](double gain) {
    if (current_ != nullptr) current_->gain_left = gain;
  };
  options.observer = [this](const TuneProgress& now) { return go_on(now); };
}

void TuneWatch::begin(const std::string& name) {
  const auto matrix = std::find_if(matrices_.begin(), matrices_.end(),
                                   [&](const auto& report) { return report.name == name; });
  current_ = matrix == matrices_.end() ? nullptr : &*matrix;
  since_ = Stopwatch();
}

bool TuneWatch::go_on(const TuneProgress& now) {
  if (current_ == nullptr) return !stopping_;
  if (!now.compares) current_->seconds = since_.seconds();
  if (progress_ == nullptr) return !stopping_;
  std::string text = now.compares ? "comparing plans" : current_->name;
  if (!now.compares && matrices_.size() > 1) {
    text += " (" + std::to_string(current_ - matrices_.data() + 1) + " of " +
            std::to_string(matrices_.size()) + ")";
  }
  text += ": " + std::to_string(now.tried) + " of " + std::to_string(now.expected) + " plans";
  if (now.best != nullptr) {
    text += ", best " + readable_seconds(now.best->seconds.median) + " under " +
            report::layout_name(now.best->plan);
  }
  text += ", about " + readable_minutes(now.seconds_left) + " left,";
  const double all = now.seconds + now.seconds_left;
  progress_->report(all > 0 ? now.seconds / all : -1, text);
  return !stopping_;
}

}  // namespace heddle::cli
