// The membrane models that there are.
#pragma once

#include <variant>

#include "aliev_panfilov.hpp"
#include "fitzhugh_nagumo.hpp"
#include "ten_tusscher_panfilov.hpp"

namespace heddle::heart {

/// The table of models: a new one is a type more.
using AnyModel = std::variant<AlievPanfilov, FitzHughNagumo, TenTusscherPanfilov>;

}  // namespace heddle::heart
