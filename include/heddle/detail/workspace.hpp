// Memory that a solver's parts will allocate.
#pragma once

#include "heddle/export.hpp"

namespace heddle {

/// Whole fields in the operator's basis and layout, and additional bytes.
struct HEDDLE_EXPORT Workspace {
  int fields = 0;
  long long bytes = 0;

  Workspace operator+(const Workspace& other) const {
    return {fields + other.fields, bytes + other.bytes};
  }
};

}  // namespace heddle
