#include "heddle/dynamic_product.hpp"

namespace heddle::detail {

void refuse_dynamic_product() {
  throw Error(ErrorKind::usage,
              "schedule=tree adds in another order in each run, so that it serves no solver: take "
              "the matrix itself, whose schedule is kept");
}

}  // namespace heddle::detail
