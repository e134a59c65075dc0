// A team of lanes on a CPU that stands for the threads of a GPU's block.
#pragma once

namespace heddle::test {

/// Runs lanes one after another: no phase may need the results of another lane in the same phase.
struct LanesInTurn {
  int lanes;
  bool backwards;

  template <class F>
  void each(const F& f) const {
    for (int i = 0; i < lanes; ++i) f(backwards ? lanes - 1 - i : i);
  }
  template <class F>
  double sum(const F& f) const {
    double sum = 0;
    for (int i = 0; i < lanes; ++i) sum += f(i);
    return sum;
  }
};

}  // namespace heddle::test
