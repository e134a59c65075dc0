// 16-bit columns on a GPU: the same arrays as on the CPU, and the same bits as with 32 bits.
#include <gtest/gtest.h>

#include <string>

#include "heddle/operator.hpp"
#include "support/gpu.hpp"
#include "support/systems/two_kinds_of_rows.hpp"

namespace short_columns_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

using ShortColumnsOnGpu = OnGpu;

template <class E>
void expect_same_bits(const Pattern& pattern, const std::string& text, Generator& generator) {
  SCOPED_TRACE(std::to_string(pattern.rows) + " rows, " + text);
  using S = vector_scalar_t<E>;
  const Device gpu = Device::cuda();
  const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, generator);
  const Plan wide = parse_plan(text), narrow = parse_plan(text + ",column-bits=16");
  const Operator<E> with_wide(matrix, wide, gpu), with_narrow(matrix, narrow, gpu);
  const Operator<E> on_cpu(matrix, narrow, Device::cpu(2));
  EXPECT_EQ(with_narrow.pattern().column_base.to_host(), on_cpu.pattern().column_base.to_host());
  EXPECT_EQ(with_narrow.pattern().short_column.to_host(), on_cpu.pattern().short_column.to_host());
  EXPECT_EQ(with_narrow.memory().short_slots,
            memory_use(pattern.view(), narrow, Operator<E>::entry_bytes(narrow), gpu).short_slots);
  Field<E> x(pattern.columns, gpu);
  const Field<E> users_x = random_field<E>(pattern.columns, generator);
  permute<S>(users_x.view(), x.view(), S(1), gpu.stream());
  const auto product = [&](const Operator<E>& A) {
    Field<E> y(pattern.rows, gpu);
    A.apply(S(1), x.view(), S(0), y.view(), gpu.stream());
    return y.scalars().to_host();
  };
  EXPECT_EQ(product(with_narrow), product(with_wide));
}

TEST_F(ShortColumnsOnGpu, HaveTheBitsOfWideOnes) {
  Seed seed(2302);
  for (const Index rows : {1, 601}) {
    for (const Index far : {1, 40, 1000}) {
      const Pattern pattern = pattern_of_two_kinds(rows, far, seed.generator);
      for (const char* text : {"CSR,unroll=4", "C=32,unroll=3,load=no-allocate", "C=n",
                               "C=8,threads-per-row=4,load=evict-first", "C=16,threshold=2",
                               "C=4,sigma=64,basis=user,schedule=dynamic"}) {
        expect_same_bits<real<double>>(pattern, text, seed.generator);
      }
      expect_same_bits<quaternion<double>>(pattern, "C=32,entry-layout=aosoa16", seed.generator);
    }
  }
}

}  // namespace
}  // namespace short_columns_gpu
