// How solvers learn that a matrix which they keep has other values than before.
#pragma once

#include "heddle/export.hpp"

namespace heddle::detail {

/// A base of operators, next to `LinearOperator`, whose matrix may be exchanged. Whatever solvers
/// have made from its values is renewed at the next solve once `generation` has changed.
class HEDDLE_EXPORT Changing {
 public:
  virtual ~Changing() = default;
  virtual long long generation() const = 0;

 protected:
  Changing() = default;
  Changing(const Changing&) = default;
  Changing& operator=(const Changing&) = default;
};

}  // namespace heddle::detail
