// Assemblies on a GPU have the same bits as on the CPU, from element values and without them, with
// meshes and values in the memory of either.
#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "heddle/assembly.hpp"
#include "support/entries_in_order.hpp"
#include "support/expect_error.hpp"
#include "support/on_gpu.hpp"
#include "support/systems/element_meshes.hpp"

namespace assembly_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

class AssemblyOnGpu : public OnGpu {};

template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(std::span<const T>(values), device);
}

/// A mesh, its element values and its element vectors in both orders, in a device's memory.
template <class E>
struct MeshOn {
  using V = result_entry_t<E>;
  using S = stored_scalar_t<E>;
  Array<Offset> first;
  Array<Index> node;
  std::vector<S> entries[2], vectors[2];

  MeshOn(const ElementMesh& mesh, const Device& device)
      : first(on(device, mesh.first)), node(on(device, mesh.node)) {
    for (const ElementOrder order : {ElementOrder::by_element, ElementOrder::planes}) {
      const auto i = static_cast<std::size_t>(order);
      entries[i] = element_entries<S>(mesh, E::components, order);
      vectors[i] = element_vectors<S>(mesh, V::components, order);
    }
  }
};

template <class E>
void expect_as_on_cpu(const ElementMesh& mesh, const Plan& plan, const Device& device) {
  using S = stored_scalar_t<E>;
  const MeshOn<E> data(mesh, device);
  Assembly<E> expected(mesh.view(), plan, Device::cpu(2));
  ElementsView view = mesh.view();
  view.first = OffsetsView(data.first.data());
  view.node = data.node.data();
  view.device = device;
  Assembly<E> assembly(view, plan, device);
  Array<S> expected_sums = row_scalars(expected.matrix()), sums = row_scalars(assembly.matrix());
  expected.assemble(data.entries[0]);
  expected.assemble_vector(data.vectors[0], row_view(expected.matrix(), expected_sums));
  const std::vector<S> entries = entries_in_order(expected.matrix());
  const auto expect = [&](const char* how, auto&& assemble, auto&& assemble_vector) {
    SCOPED_TRACE(how);
    assembly.assemble(std::vector<S>(data.entries[0].size()));
    assemble();
    ASSERT_EQ(entries_in_order(assembly.matrix()), entries);
    sums = row_scalars(assembly.matrix());
    assemble_vector(row_view(assembly.matrix(), sums));
    ASSERT_EQ(sums.to_host(), expected_sums.to_host());
  };
  for (const ElementOrder order : {ElementOrder::by_element, ElementOrder::planes}) {
    const auto i = static_cast<std::size_t>(order);
    expect(
        "values of the host", [&] { assembly.assemble(data.entries[i], order); },
        [&](const FieldView<S>& to) { assembly.assemble_vector(data.vectors[i], to, order); });
    const Array<S> of_entries = on(device, data.entries[i]),
                   of_vectors = on(device, data.vectors[i]);
    expect(
        "values of the GPU", [&] { assembly.assemble(of_entries.span(), order); },
        [&](const FieldView<S>& to) { assembly.assemble_vector(of_vectors.span(), to, order); });
  }
  const Array<unsigned> places(assembly.row_places(), device);
  const std::vector<unsigned> on_host = places.to_host();
  const Array<S> by_row = on(device, element_entries_by_row<S>(mesh, E::components, on_host));
  expect(
      "values by row", [&] { assembly.assemble(by_row.span(), ElementOrder::by_row); },
      [&](const FieldView<S>& to) {
        assembly.assemble_vector(data.vectors[0], to, ElementOrder::by_row);
      });
  expect(
      "no values", [&] { assemble_with(assembly, NumbersKernel<E>()); },
      [&](const FieldView<S>& to) { assemble_vector_with(assembly, NumbersKernel<E>(), to); });
}

template <class E>
void expect_as_on_cpu(const Device& device) {
  Seed seed(3701);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    for (const char* plan : {"CSR", "Sl-32,inner=soa", "pJDS,inner=aosoa16", "K2rs,vector=soa",
                             "C=8,T=4,sigma=16,inner=soa", "ELL,use=scatter,order=rcm"}) {
      SCOPED_TRACE(plan);
      expect_as_on_cpu<E>(mesh, parse_plan(plan), device);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST_F(AssemblyOnGpu, SumsReals) {
  expect_as_on_cpu<real<float>>(device);
  expect_as_on_cpu<real<double>>(device);
}
TEST_F(AssemblyOnGpu, SumsComplexNumbers) {
  expect_as_on_cpu<complex<float>>(device);
  expect_as_on_cpu<complex<double>>(device);
}
TEST_F(AssemblyOnGpu, SumsQuaternions) {
  expect_as_on_cpu<quaternion<float>>(device);
  expect_as_on_cpu<quaternion<double>>(device);
}
TEST_F(AssemblyOnGpu, SumsDualQuaternions) {
  expect_as_on_cpu<dual_quaternion<float>>(device);
  expect_as_on_cpu<dual_quaternion<double>>(device);
}
TEST_F(AssemblyOnGpu, SumsBlocks) {
  expect_as_on_cpu<block<float, 3, 3>>(device);
  expect_as_on_cpu<block<double, 3, 3>>(device);
  expect_as_on_cpu<block<complex<double>, 3, 3>>(device);
}

TEST_F(AssemblyOnGpu, RefusesFieldsOfTheHost) {
  Seed seed(3702);
  const ElementMesh mesh = random_elements("", 50, 60, 4, 4, seed.generator);
  const Assembly<real<double>> assembly(mesh.view(), parse_plan("CSR"), device);
  std::vector<double> sums(50);
  expect_error(ErrorKind::usage, "the assembled field is not in the memory of the matrix's GPU",
               [&] { assembly.assemble_vector(std::vector<double>(240), sums); });
}

}  // namespace
}  // namespace assembly_gpu
