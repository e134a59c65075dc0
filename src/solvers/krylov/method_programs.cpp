#include "method_programs.hpp"

#include <string>

#include "base/text/names.hpp"
#include "heddle/error.hpp"
#include "heddle/methods/bicgstab.hpp"
#include "heddle/methods/bicgstab2.hpp"
#include "heddle/methods/chebyshev_iteration.hpp"
#include "heddle/methods/cocg.hpp"
#include "heddle/methods/conjugate_gradient.hpp"
#include "heddle/methods/conjugate_residual.hpp"
#include "heddle/methods/continued_conjugate_gradient.hpp"
#include "heddle/methods/fgmres.hpp"
#include "heddle/methods/gmres.hpp"
#include "heddle/methods/minres.hpp"
#include "heddle/methods/single_reduction_conjugate_gradient.hpp"
#include "method_rows.hpp"

namespace heddle {

namespace {

template <template <Ring, bool> class Method, Ring R = Ring::real>
detail::MethodProgram program_in(const MethodInfo& info, Ring, bool preconditioned) {
  detail::MethodText text{std::string(info.type), std::string(info.header)};
  return preconditioned ? detail::program_of<Method, R, true>(std::move(text))
                        : detail::program_of<Method, R, false>(std::move(text));
}
/// The program of a method with bilinear products, which quaternions do not have.
template <template <Ring, bool> class Method>
detail::MethodProgram symmetric(const MethodInfo& info, Ring ring, bool preconditioned) {
  return (ring == Ring::complex ? program_in<Method, Ring::complex>
                                : program_in<Method>)(info, ring, preconditioned);
}
template <template <Ring, bool> class Method>
detail::MethodProgram program_over(const MethodInfo& info, Ring ring, bool preconditioned) {
  return (ring == Ring::quaternion ? program_in<Method, Ring::quaternion>
                                   : symmetric<Method>)(info, ring, preconditioned);
}

constexpr MethodInfo table[] = {method_rows::conjugate_gradient,
                                method_rows::bicgstab,
                                method_rows::minres,
                                method_rows::gmres,
                                method_rows::cocg,
                                method_rows::cocr,
                                method_rows::conjugate_residual,
                                method_rows::bicgstab2,
                                method_rows::fgmres,
                                method_rows::chebyshev_iteration,
                                method_rows::richardson};

struct ProgramOfType {
  std::string_view type;
  detail::MethodProgram (*make)(const MethodInfo& info, Ring ring, bool preconditioned);
};
constexpr ProgramOfType programs[] = {
    {method_rows::conjugate_gradient.type, program_in<methods::ConjugateGradient>},
    {method_rows::single_reduction_conjugate_gradient.type,
     program_in<methods::SingleReductionConjugateGradient>},
    {method_rows::continued_conjugate_gradient.type,
     program_in<methods::ContinuedConjugateGradient>},
    {method_rows::minres.type, program_in<methods::Minres>},
    {method_rows::conjugate_residual.type, program_in<methods::ConjugateResidual>},
    {method_rows::chebyshev_iteration.type, program_in<methods::ChebyshevIteration>},
    {method_rows::cocg.type, symmetric<methods::Cocg>},
    {method_rows::cocr.type, symmetric<methods::Cocr>},
    {method_rows::bicgstab.type, program_over<methods::BiCGStab>},
    {method_rows::bicgstab2.type, program_over<methods::BiCGStab2>},
    {method_rows::gmres.type, program_over<methods::Gmres>},
    {method_rows::fgmres.type, program_over<methods::Fgmres>}};

}  // namespace

std::span<const MethodInfo> method_table() { return table; }

const MethodInfo& find_method(std::string_view name) {
  std::string names;
  for (const MethodInfo& method : table) {
    if (is_same_name(method.name, name)) return method;
    names += " " + std::string(method.name);
  }
  throw Error(ErrorKind::usage,
              "no solver is named '" + std::string(name) + "'; there are" + names);
}

detail::MethodProgram program_of_method(const MethodInfo& info, Ring ring, bool preconditioned) {
  for (const ProgramOfType& program : programs) {
    if (program.type == info.type) return program.make(info, ring, preconditioned);
  }
  throw Error(ErrorKind::internal, std::string(info.name) + " is not one of the library's methods");
}

}  // namespace heddle
