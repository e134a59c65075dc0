#include "group_step.hpp"

namespace heddle::heart {

const Steps baseline_steps = steps_of<LaneGroup<16, 2>>(static_cast<const AnyModel*>(nullptr));

}  // namespace heddle::heart
