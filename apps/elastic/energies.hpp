// The energies of a state, and the work of its loads.
#pragma once

namespace heddle::elastic {

struct Energies {
  double kinetic = 0;
  double elastic = 0;
  double work = 0;  // by the loads along the displacement from rest

  /// Constant in a motion that loses no energy.
  double total() const { return kinetic + elastic - work; }
};

}  // namespace heddle::elastic
