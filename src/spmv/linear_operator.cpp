#include "heddle/linear_operator.hpp"

#include "heddle/error.hpp"

namespace heddle::detail {

void refuse_moved_from() {
  throw Error(ErrorKind::usage, "this operator was moved from: it has no matrix any more");
}

void refuse_null_operator() { throw Error(ErrorKind::usage, "a null pointer to an operator"); }

}  // namespace heddle::detail
