#include "step_places_cuda.hpp"

#include "step_program.hpp"

namespace heddle::cuda {

namespace {

using detail::MethodProgram;
using methods::Facts;
using methods::StepKind;

std::vector<StepPlace> places_of(const MethodProgram& program, const Facts& facts,
                                 const PartialCounts& counts) {
  const auto joins = [&](int i) {
    return counts.rows > 0 && i >= 0 && joins_next(program, facts, i);
  };
  std::vector<StepPlace> places(static_cast<std::size_t>(facts.steps));
  for (int i = 0; i < facts.steps; ++i) {
    StepPlace& place = places[static_cast<std::size_t>(i)];
    if (joins(i - 1)) continue;
    place.numbers = facts.own_numbers(i, program.ring) +
                    (joins(i) ? facts.own_numbers(i + 1, program.ring) : 0);
    place.partials_of_number = facts.step[i].kind == StepKind::product ? counts.product
                               : joins(i)                              ? counts.rows
                                                                       : counts.walk;
  }
  return places;
}

Offset doubles_of(const std::vector<StepPlace>& places) {
  Offset doubles = 0;
  for (const StepPlace& place : places) doubles += place.numbers * (place.partials_of_number + 1);
  return doubles;
}

}  // namespace

Offset StepPlaces::doubles(const MethodProgram& program, const PartialCounts& counts) {
  return doubles_of(places_of(program, program.start, counts)) +
         2 * doubles_of(places_of(program, program.iteration, counts));
}

StepPlaces::StepPlaces(const MethodProgram& program, const PartialCounts& counts,
                       std::size_t systems, const Device& device)
    : stride_(doubles(program, counts)),
      storage_(static_cast<std::size_t>(stride_) * systems, device),
      start_(places_of(program, program.start, counts)),
      iteration_(places_of(program, program.iteration, counts)) {
  double* next = storage_.data();
  const auto take = [&](Offset doubles) { return std::exchange(next, next + doubles); };
  const auto give = [&](std::vector<StepPlace>& places, int turns) {
    for (StepPlace& place : places) {
      for (int turn = 0; turn < turns; ++turn) {
        place.partials[turn] = take(place.numbers * place.partials_of_number);
        place.total[turn] = take(place.numbers);
      }
    }
  };
  give(start_, 1);
  give(iteration_, 2);
  const auto after = [](const Facts& facts, std::vector<StepPlace>& places) {
    std::vector<StepPlace*> found;
    for (int i = facts.after_decision(facts.steps); i < facts.steps; ++i) {
      StepPlace& place = places[static_cast<std::size_t>(i)];
      if (place.numbers > 0) found.push_back(&place);
    }
    return found;
  };
  carried_ = after(program.iteration, iteration_);
  const auto from = after(program.start, start_);
  for (std::size_t k = 0; k < carried_.size(); ++k) {
    from.at(k)->partials[0] = carried_[k]->partials[1];
  }
}

void StepPlaces::carry() {
  for (StepPlace* place : carried_) {
    place->left[1] = {place->partials[1], static_cast<unsigned>(place->partials_of_number), 1};
  }
}

}  // namespace heddle::cuda
