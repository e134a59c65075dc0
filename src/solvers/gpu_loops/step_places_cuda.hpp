// The places where the kernels of a method's steps leave their sums for one another.
#pragma once

#include <utility>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/device.hpp"
#include "heddle/kernels/arguments.hpp"

namespace heddle::cuda {

/// Number of partial sums that a kernel leaves of each number.
struct PartialCounts {
  Offset product = 0;
  Offset walk = 0;  // a kernel over a field
  Offset rows = 0;  // an update joined with the preconditioner after it; 0: there is none
};

/// The sums of one step of the first system; those of the others follow at distances of
/// `StepPlaces::stride`. Sums that the next iteration's decision takes lie in two places, by turns.
struct StepPlace {
  int numbers = 0;  // 0: none, or they lie with the update that the step is joined with
  Offset partials_of_number = 0;
  double* partials[2] = {};
  double* total[2] = {};  // for those that are added by a kernel of their own
  device::PartialSums left[2] = {};

  /// Records that a kernel has left `count` of each number, one for each group.
  void leave(int turn, unsigned count) { left[turn] = {partials[turn], count, 1}; }
};

class StepPlaces {
 public:
  StepPlaces(const detail::MethodProgram& program, const PartialCounts& counts, std::size_t systems,
             const Device& device);

  StepPlace& at(bool start, int i) {
    return (start ? start_ : iteration_)[static_cast<std::size_t>(i)];
  }
  /// Lets the first iteration take the sums that the start leaves as those of the iteration before.
  void carry();

  /// Doubles from the data of a system to that of the next one.
  Offset stride() const { return stride_; }

  /// Doubles that it allocates for each system.
  static Offset doubles(const detail::MethodProgram& program, const PartialCounts& counts);

 private:
  Offset stride_;
  Array<double> storage_;
  std::vector<StepPlace> start_, iteration_;
  std::vector<StepPlace*> carried_;  // places of the iteration
};

}  // namespace heddle::cuda
