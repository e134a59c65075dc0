// Passes as kernels, and entries that they write in sliced storage, compared with the CPU's.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/for_each_on.hpp"
#include "heddle/operator.hpp"
#include "support/element_kernels.hpp"
#include "support/entries_in_order.hpp"
#include "support/on_gpu.hpp"
#include "support/random_matrix.hpp"

namespace element_passes_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class PassesOnGpu : public OnGpu {};

/// Rotates the components of each of the user's entries by one, from slots to slots.
template <class E>
struct TurnEntries {
  Offset count;
  const Offset* from_slot;
  const Offset* to_slot;
  EntryWriter<E> from, to;

  HEDDLE_INLINE void operator()(Offset i) const {
    const E entry = from.load(from_slot[i]);
    E rotated;
    for (int k = 0; k < E::components; ++k) {
      rotated.component[k] = entry.component[(k + 1) % E::components];
    }
    to.store(to_slot[i], rotated);
  }
};

TEST_F(PassesOnGpu, CallWithEachNumberOnce) {
  for (const Offset count : {0, 1, 127, 128, 129, 100001}) {
    const auto size = static_cast<std::size_t>(count);
    const std::vector<Offset> ones(size, 1);
    for (const Device& on : {Device::cpu(3), device}) {
      Array<Offset> numbers(std::span<const Offset>(ones), on);
      for_each_on(on, AddNumber{count, numbers.data()});
      for_each_on(on.stream(), AddNumber{count, numbers.data()});
      const std::vector<Offset> result = numbers.to_host();
      for (Offset i = 0; i < count; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], 1 + 2 * i);
    }
  }
}

TEST_F(PassesOnGpu, RefuseCountsThatAreNone) {
  for (const Offset count : {Offset(-1), Offset(1) << 40}) {
    try {
      for_each_on(device, AddNumber{count, nullptr});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), count < 0 ? ErrorKind::usage : ErrorKind::unsupported);
    }
  }
}

template <class E>
void expect_entries_as_on_cpu(const Device& device) {
  Seed seed(3101);
  for (const PatternRequest& shape : odd_patterns()) {
    SCOPED_TRACE(shape.name);
    const CsrMatrix<E> user = random_matrix<E>(shape, seed.generator);
    for (const char* plan : {"CSR", "Sl-32,inner=soa", "pJDS,inner=aosoa16", "K2rs,inner=aosoa",
                             "C=8,T=4,sigma=16,inner=soa", "ELL,use=scatter,order=rcm"}) {
      SCOPED_TRACE(plan);
      std::vector<std::vector<stored_scalar_t<E>>> values;
      for (const Device& on : {Device::cpu(2), device}) {
        Operator<E> from(user, parse_plan("CSR"), on), to(user, parse_plan(plan), on);
        const Array<Offset> from_slot = slots_of_entries(from.pattern());
        const Array<Offset> to_slot = slots_of_entries(to.pattern());
        for_each_on(on, TurnEntries<E>{user.entries(), from_slot.data(), to_slot.data(),
                                       from.entry_writer(), to.entry_writer()});
        to.values_changed();
        values.push_back(entries_in_order(to));
      }
      ASSERT_EQ(values[0], values[1]);
    }
  }
}

TEST_F(PassesOnGpu, WriteReals) {
  expect_entries_as_on_cpu<real<float>>(device);
  expect_entries_as_on_cpu<real<double>>(device);
}
TEST_F(PassesOnGpu, WriteComplexNumbers) { expect_entries_as_on_cpu<complex<double>>(device); }
TEST_F(PassesOnGpu, WriteQuaternions) { expect_entries_as_on_cpu<quaternion<float>>(device); }
TEST_F(PassesOnGpu, WriteBlocks) {
  expect_entries_as_on_cpu<block<double, 3, 3>>(device);
  expect_entries_as_on_cpu<block<complex<float>, 3, 3>>(device);
}

}  // namespace
}  // namespace element_passes_gpu
