// The library's methods as what a GPU's loops are made of, whatever the scalar of fields.
#pragma once

#include "heddle/detail/method_program.hpp"
#include "heddle/method_info.hpp"

namespace heddle {

/// Of a row of method_rows.hpp. `ring`: of the coefficients, if the method has others than real
/// ones.
detail::MethodProgram program_of_method(const MethodInfo& info, Ring ring, bool preconditioned);

}  // namespace heddle
