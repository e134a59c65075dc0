#include "heddle/tools/memory_error.hpp"

#include <string>

#include "base/text/readable.hpp"
#include "heddle/error.hpp"
#include "memory_limits.hpp"

namespace heddle::detail {

void refuse_memory(const char* what, std::size_t count, std::size_t bytes_each) {
  const double bytes = static_cast<double>(count) * static_cast<double>(bytes_each);
  throw Error(ErrorKind::memory, std::string(what) +
                                     ": the memory of the host does not suffice for " +
                                     std::to_string(count) + " of them (" +
                                     readable_bytes(static_cast<long long>(bytes)) +
                                     "), available are " + readable_bytes(available_host_memory()));
}

}  // namespace heddle::detail
