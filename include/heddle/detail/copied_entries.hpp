// Copies in sliced storage of entries that lie in another one.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "heddle/detail/sliced_operator.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// Each copy is made at its first request and kept. May be used from several threads at once.
template <class S>
class HEDDLE_EXPORT CopiedEntries {
 public:
  using Make = std::function<SlicedOperator<S>()>;

  /// Returns the copy of all entries if there is one.
  SlicedOperator<S> diagonal(const Make& make);
  SlicedOperator<S> all(const Make& make);
  long long bytes() const;

 private:
  mutable std::mutex making_;
  std::unique_ptr<SlicedOperator<S>> diagonal_, all_;
};

extern template class CopiedEntries<float>;
extern template class CopiedEntries<double>;
extern template class CopiedEntries<long double>;

}  // namespace heddle::detail
