// Times in the device's memory, so that the work of a step is the same each time.
#pragma once

namespace heddle::heart {

struct Clock {
  double now;
  double half;  // half a step later
  long long steps;
  long long failed_step;  // the first step that was not solved, or -1
};

}  // namespace heddle::heart
