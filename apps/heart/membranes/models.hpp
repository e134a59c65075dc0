// The available membrane models.
#pragma once

#include <variant>

#include "aliev_panfilov.hpp"
#include "fitzhugh_nagumo.hpp"
#include "ten_tusscher_panfilov.hpp"

namespace heddle::heart {

/// The table of models: a new model is one more type.
using AnyModel = std::variant<AlievPanfilov, FitzHughNagumo, TenTusscherPanfilov>;

}  // namespace heddle::heart
