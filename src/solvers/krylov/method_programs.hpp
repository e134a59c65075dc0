// The library's methods in the form from which a GPU's loops are made, whatever the scalar of
// fields.
#pragma once

#include "heddle/detail/method_program.hpp"
#include "heddle/method_info.hpp"

namespace heddle {

/// The program of a row of method_rows.hpp. `ring`: that of the coefficients, if the method has any
/// that are not real.
detail::MethodProgram program_of_method(const MethodInfo& info, Ring ring, bool preconditioned);

}  // namespace heddle
