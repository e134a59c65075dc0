// Memory that a solver's method allocates.
#pragma once

namespace heddle {

/// Whole fields of the operator's basis and layout, and bytes beside them.
struct Workspace {
  int fields = 0;
  long long bytes = 0;
};

}  // namespace heddle
