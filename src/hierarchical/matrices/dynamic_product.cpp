#include "heddle/dynamic_product.hpp"

namespace heddle::detail {

void refuse_dynamic_product() {
  throw Error(ErrorKind::usage,
              "schedule=tree adds in a different order in each run, so solvers cannot use it: use "
              "the matrix itself, whose schedule is kept");
}

}  // namespace heddle::detail
