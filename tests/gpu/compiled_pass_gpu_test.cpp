// Passes and assembly kernels not compiled by nvcc, on a GPU: the same bits as on the host.
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "heddle/assembly.hpp"
#include "support/element_kernel_texts.hpp"
#include "support/entries_in_order.hpp"
#include "support/expect_error.hpp"
#include "support/on_gpu.hpp"
#include "support/systems/element_meshes.hpp"

namespace compiled_pass_gpu {
struct Absent : heddle::test::AddNumber {};
}  // namespace compiled_pass_gpu
HEDDLE_KERNEL(compiled_pass_gpu::Absent, "absent.hpp")

namespace compiled_pass_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class CompiledPassesOnGpu : public OnGpu {};

template <class E>
struct Sums {
  std::vector<stored_scalar_t<E>> entries;
  std::vector<typename result_entry_t<E>::scalar> rows;
};

template <class E, class Kernel>
Sums<E> sums_by(const Kernel& kernel, const ElementMesh& mesh, const Plan& plan,
                const Device& device) {
  Assembly<E> assembly(mesh.view(), plan, device);
  assemble_with(assembly, kernel);
  auto rows = row_scalars(assembly.matrix());
  assemble_vector_with(assembly, kernel, row_view(assembly.matrix(), rows));
  return {entries_in_order(assembly.matrix()), rows.to_host()};
}

/// `kernel_on` makes the kernel for a device's memory.
template <class E, class KernelOn>
void expect_as_on_cpu(const Device& device, const KernelOn& kernel_on) {
  Seed seed(3703);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    for (const char* plan : {"CSR", "Sl-32,inner=soa", "pJDS,inner=aosoa16", "K2rs,vector=soa",
                             "ELL,use=scatter,order=rcm"}) {
      SCOPED_TRACE(plan);
      const Sums<E> expected =
          sums_by<E>(kernel_on(mesh, Device::cpu(2)), mesh, parse_plan(plan), Device::cpu(2));
      const Sums<E> found = sums_by<E>(kernel_on(mesh, device), mesh, parse_plan(plan), device);
      ASSERT_EQ(found.entries, expected.entries);
      ASSERT_EQ(found.rows, expected.rows);
    }
  }
}
template <class... E>
void expect_numbers_as_on_cpu(const Device& device) {
  (expect_as_on_cpu<E>(device,
                       [](const ElementMesh&, const Device&) { return NumbersKernel<E>(); }),
   ...);
}

TEST_F(CompiledPassesOnGpu, SumNumbers) {
  expect_numbers_as_on_cpu<real<float>, real<double>, complex<double>, quaternion<double>,
                           block<double, 3, 3>>(device);
}

TEST_F(CompiledPassesOnGpu, FinishSumsWhereTheyAre) {
  Array<int> weights;
  expect_as_on_cpu<block<double, 3, 3>>(device, [&](const ElementMesh& mesh, const Device& on) {
    std::vector<int> numbers(static_cast<std::size_t>(mesh.elements()));
    for (std::size_t e = 0; e < numbers.size(); ++e) numbers[e] = 1 + static_cast<int>(e % 7);
    weights = Array<int>(std::span<const int>(numbers), on);
    return PlacesKernel{weights.data()};
  });
}

TEST_F(CompiledPassesOnGpu, CallWithEachNumberOnce) {
  for (const Offset count : {0, 1, 127, 128, 129, 100001}) {
    const std::vector<Offset> ones(static_cast<std::size_t>(count), 1);
    Array<Offset> numbers(std::span<const Offset>(ones), device);
    for_each_on(device, AddNumber{count, numbers.data()});
    const std::vector<Offset> result = numbers.to_host();
    for (Offset i = 0; i < count; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], 1 + i);
  }
}

TEST_F(CompiledPassesOnGpu, WithoutTheirTextAreRefused) {
  expect_error(ErrorKind::unsupported,
               "the text of the header 'absent.hpp' is not in this program; "
               "heddle_embed_entry(target absent.hpp) in its CMakeLists.txt adds it",
               [&] { for_each_on(device, Absent{{3, nullptr}}); });
}

}  // namespace
}  // namespace compiled_pass_gpu
