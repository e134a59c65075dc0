// e^x of constants, at compile time.
#pragma once

namespace heddle::heart {

/// For |x| below 100, accurate to within two units in the last place.
consteval double constant_exp(double x) {
  const auto n = static_cast<int>(x * 1.4426950408889634 + (x < 0 ? -0.5 : 0.5));
  // The first part of ln 2 has 42 bits: its product with n is exact.
  const double r = x - n * 0x1.62e42fefa3800p-1 - n * 0x1.ef35793c76730p-45;
  double power = 1;
  for (int k = 20; k > 0; --k) power = 1 + power * r / k;
  for (int k = 0; k < n; ++k) power *= 2;
  for (int k = 0; k > n; --k) power /= 2;
  return power;
}

}  // namespace heddle::heart
