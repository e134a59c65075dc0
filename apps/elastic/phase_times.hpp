// Where the time of a run goes.
#pragma once

#include "../command/stopwatch.hpp"
#include "heddle/device.hpp"

namespace heddle::elastic {

/// In seconds.
struct PhaseTimes {
  double read = 0;      // case and mesh, checks and loads included
  double setup = 0;     // pattern, plan, matrices, solver
  double elements = 0;  // rotations, forces, stresses
  double values = 0;    // entries summed and written into the matrix
  double iterate = 0;   // in the solver
  double fields = 0;    // other products and vector work
  double output = 0;    // only while the run waited: frames copied and handed over
};

/// Adds the time that `work` takes to `total`, including work that it queued on a GPU.
template <class Work>
void timed(double& total, const Device& device, const Work& work) {
  const cli::Stopwatch watch;
  work();
  device.synchronize();
  total += watch.seconds();
}

}  // namespace heddle::elastic
