// What a state holds and what its loads have done.
#pragma once

namespace heddle::elastic {

struct Energies {
  double kinetic = 0;
  double elastic = 0;
  double work = 0;  // of the loads along the displacement from rest

  /// Constant in a motion that loses nothing.
  double total() const { return kinetic + elastic - work; }
};

}  // namespace heddle::elastic
