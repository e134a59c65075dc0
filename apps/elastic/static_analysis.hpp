// The displacement in which the forces of the elements balance the loads.
#pragma once

#include "elastic_system.hpp"
#include "energies.hpp"

namespace heddle::elastic {

class StaticAnalysis {
 public:
  /// Starts from the given displacements, zero elsewhere, with the residual of that state as the
  /// right-hand side: the equations of Newton's method, which takes one step for a linear model.
  explicit StaticAnalysis(ElasticSystem& system);

  /// The system that `solve` solves, for a displacement to be added.
  const VertexField& right_hand_side() const { return residual_; }
  Report solve();

  const VertexField& displacement() const { return displacement_; }
  Energies energies();

 private:
  ElasticSystem& system_;
  VertexField displacement_, residual_, step_;
};

}  // namespace heddle::elastic
