// FGMRES (Saad 1993): GMRES that keeps what its preconditioner left of each vector of the basis, so
// that every application may be another map.
#pragma once

#include "heddle/methods/gmres.hpp"

namespace heddle::methods {

template <Ring R, bool preconditioned>
struct Fgmres : Gmres<R, preconditioned> {
  using Base = Gmres<R, preconditioned>;
  using Finish = FormSolution<Base::v, Base::z, typename Base::Solve, preconditioned>;
};

}  // namespace heddle::methods
