// FGMRES (Saad 1993): GMRES that keeps the preconditioned form of each vector of the basis, so that
// every application may be a different map.
#pragma once

#include "heddle/methods/gmres.hpp"

namespace heddle::methods {

template <Ring R, bool preconditioned>
struct Fgmres : Gmres<R, preconditioned> {
  using Base = Gmres<R, preconditioned>;
  using Finish = FormSolution<Base::v, Base::z, typename Base::Solve, preconditioned>;
};

}  // namespace heddle::methods
