// The standard library is included first, so that it is compiled without the instructions below.
#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <variant>

#include "heddle/entries/slots.hpp"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#include "group_step.hpp"

namespace heddle::heart {

const Steps avx2_steps = steps_of<LaneGroup<32, 4>>(static_cast<const AnyModel*>(nullptr));

}  // namespace heddle::heart

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
