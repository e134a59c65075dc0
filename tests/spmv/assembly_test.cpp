// Runs in both builds.
// Assemblies: compared with sums in long double, in either order of the element values and without
// them, with the same bits for any number of threads; and the inputs that they refuse.
#include "heddle/assembly.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "support/distance.hpp"
#include "support/element_kernel_texts.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/product_check.hpp"
#include "support/systems/element_meshes.hpp"
#include "support/where_it_runs.hpp"

namespace assembly {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class AssemblyTest : public testing::Test {};
using Entries =
    testing::Types<real<float>, real<double>, real<double, 3>, complex<float>, complex<double>,
                   quaternion<float>, quaternion<double>, dual_quaternion<float>,
                   dual_quaternion<double>, block<float, 3, 3>, block<double, 3, 3>,
                   block<double, 2, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(AssemblyTest, FewOf<Entries>);

/// A copy of all stored bytes, as text: comparing text is fast in an unoptimised build too.
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <class E>
std::string bytes_of(const Operator<E>& matrix) {
  return text_of(std::as_bytes(matrix.values_in_basis()));
}
template <class S>
std::string bytes_of(const Array<S>& scalars) {
  return text_of(std::as_bytes(scalars.span()));
}

template <class E>
std::ptrdiff_t count_nan(const Operator<E>& matrix) {
  const auto stored = matrix.values_in_basis();
  return std::count_if(stored.begin(), stored.end(), [](auto value) { return std::isnan(value); });
}

/// Checks every entry of the pattern, and that there are no others.
template <class E>
void expect_summed(Assembly<E>& assembly, const ElementPattern& pattern,
                   const std::map<std::array<int, 3>, LongSum>& expected) {
  ASSERT_EQ(pattern.entries() * E::components, static_cast<Offset>(expected.size()));
  const Array<Offset> slot = slots_of_entries(assembly.matrix().pattern());
  const EntryWriter<E> entries = assembly.matrix().entry_writer();
  for (Index row = 0; row < pattern.nodes(); ++row) {
    for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
      const E entry = entries.load(slot[i]);
      for (int k = 0; k < E::components; ++k) {
        expected.at({row, pattern.column[i], k}).expect(entry.component[k]);
      }
    }
  }
}

TYPED_TEST(AssemblyTest, SumsEntries) {
  HEDDLE_RELEASE_ONLY();
  if (group_of_entry<TypeParam> == EntryGroup::quaternion ||
      group_of_entry<TypeParam> == EntryGroup::square)
    HEDDLE_DEEP_CHECK_ONLY();
  using E = TypeParam;
  using S = stored_scalar_t<E>;
  Seed seed(701);
  const std::vector<Plan> plans = covering_layouts(seed.generator);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    const ElementPattern pattern = element_pattern(mesh.view());
    const auto expected = summed_entries<E>(mesh);
    const auto values = element_entries<S>(mesh, E::components, ElementOrder::by_element);
    const auto planes = element_entries<S>(mesh, E::components, ElementOrder::planes);
    int several = 2;  // number of threads: 2 to 7 in turn
    for (const Plan& plan : plans) {
      SCOPED_TRACE(to_string(plan));
      std::string bits;
      several = several < 7 ? several + 1 : 2;
      for (const int threads : {1, several}) {
        Assembly<E> assembly(pattern, plan, Device::cpu(threads));
        poison_padding(assembly.matrix());
        const auto padding = count_nan(assembly.matrix());
        assembly.assemble(values);
        ASSERT_EQ(count_nan(assembly.matrix()), padding);
        if (threads == 1) {
          expect_summed(assembly, pattern, expected);
          bits = bytes_of(assembly.matrix());
        }
        ASSERT_EQ(bytes_of(assembly.matrix()), bits);
        assembly.assemble(planes, ElementOrder::planes);
        ASSERT_EQ(bytes_of(assembly.matrix()), bits);
        assembly.assemble(std::vector<S>(values.size()));
        assembly.assemble(element_entries_by_row<S>(mesh, E::components, assembly.row_places()),
                          ElementOrder::by_row);
        ASSERT_EQ(bytes_of(assembly.matrix()), bits);
        assembly.assemble(std::vector<S>(values.size()));
        assemble_with(assembly, NumbersKernel<E>());
        ASSERT_EQ(bytes_of(assembly.matrix()), bits);
      }
      if (this->HasFailure()) return;
    }
  }
}

TYPED_TEST(AssemblyTest, SumsVectors) {
  using E = TypeParam;
  using V = result_entry_t<E>;
  using S = typename V::scalar;
  Seed seed(702);
  for (const ElementMesh& mesh : element_meshes(seed.generator)) {
    SCOPED_TRACE(mesh.name);
    const auto expected = summed_vectors<V>(mesh);
    const auto values = element_vectors<S>(mesh, V::components, ElementOrder::by_element);
    const auto planes = element_vectors<S>(mesh, V::components, ElementOrder::planes);
    for (const char* plan :
         {"CSR", "K1rs", "C=4,sigma=16,vector=soa,order=rcm", "K2,use=scatter"}) {
      SCOPED_TRACE(plan);
      std::string bits;
      for (const int threads : {1, 5}) {
        const Assembly<E> assembly(mesh.view(), parse_plan(plan), Device::cpu(threads));
        Array<S> sums = row_scalars(assembly.matrix());
        const FieldView<S> field = row_view(assembly.matrix(), sums);
        assembly.assemble_vector(values, field);
        if (threads == 1) bits = bytes_of(sums);
        for (Index v = 0; v < mesh.nodes; ++v) {
          for (int k = 0; k < V::components; ++k) {
            const auto sum = expected.find({v, k});
            const S found = field.at(assembly.matrix().row_basis()->position(v), k);
            (sum == expected.end() ? LongSum() : sum->second).expect(found);
          }
        }
        assembly.assemble_vector(planes, field, ElementOrder::planes);
        ASSERT_EQ(bytes_of(sums), bits);
        std::fill(sums.begin(), sums.end(), S(5));
        assemble_vector_with(assembly, NumbersKernel<E>(), field);
        ASSERT_EQ(bytes_of(sums), bits);
      }
      if (this->HasFailure()) return;
    }
  }
}

using Real = real<double>;
using Block = block<double, 3, 3>;

ElementMesh mixed_mesh(int seed = 703) {
  Seed generator(static_cast<std::uint64_t>(seed));
  return random_elements("mixed", 90, 150, 2, 6, generator.generator);
}

TEST(AssemblyByKernels, FinishesSumsWhereTheyAre) {
  const ElementMesh mesh = mixed_mesh();
  const ElementPattern pattern = element_pattern(mesh.view());
  const std::vector<int> ones(static_cast<std::size_t>(mesh.elements()), 1);
  for (const char* plan : {"CSR", "pJDS", "K2rs,inner=soa", "C=8,T=2,inner=aosoa16,order=rcm"}) {
    SCOPED_TRACE(plan);
    Assembly<Block> assembly(pattern, parse_plan(plan));
    assemble_with(assembly, PlacesKernel{ones.data()});
    const Operator<Block>& A = assembly.matrix();
    const Array<Offset> slot = slots_of_entries(A.pattern());
    const EntryWriter<Block> entries = assembly.matrix().entry_writer();
    for (Index row = 0; row < pattern.nodes(); ++row) {
      for (Offset i = pattern.offsets[row]; i < pattern.offsets[row + 1]; ++i) {
        const Block entry = entries.load(slot[i]);
        ASSERT_EQ(entry.component[0], pattern.first_term[i + 1] - pattern.first_term[i]);
        ASSERT_EQ(entry.component[1], slot[i]);
        ASSERT_EQ(entry.component[2], A.row_basis()->position(row));
        ASSERT_EQ(entry.component[3], A.column_basis()->position(pattern.column[i]));
      }
    }
    Field<Block> field = A.field();
    assemble_vector_with(assembly, PlacesKernel{ones.data()}, field.view());
    for (Index row = 0; row < A.rows(); ++row) {
      const auto v = static_cast<std::size_t>(A.row_basis()->user_row(row));
      ASSERT_EQ(field[row].component[0], pattern.first_corner[v + 1] - pattern.first_corner[v]);
      ASSERT_EQ(field[row].component[1], row);
    }
  }
}

TEST(AssemblyOfBlocks, TellsSolversAndCopiesOfNewValues) {
  const ElementMesh mesh = mixed_mesh();
  Assembly<Block> assembly(mesh.view(), parse_plan("C=8,inner=aosoa16,stored=float"));
  const auto before = assembly.matrix().generation();
  assemble_with(assembly, NumbersKernel<Block>());
  EXPECT_EQ(assembly.matrix().generation(), before + 1);
  Field<Block> x = assembly.matrix().field(), y = x, of_copy = x;
  for (Index row = 0; row < x.size(); ++row) x.set(row, {{1, 0.5 * row, -1}});
  assembly.matrix().apply(1, x.view(), 0, y.view(), x.stream());
  assembly.matrix().iterated().apply(1, x.view(), 0, of_copy.view(), x.stream());
  EXPECT_LE(distance(of_copy, y), 1e-6);
}

TEST(AssemblyOfReals, ServesMatricesThatShareItsLists) {
  const ElementMesh mesh = mixed_mesh();
  const ElementPattern pattern = element_pattern(mesh.view());
  const auto values = element_entries<double>(mesh, 1, ElementOrder::by_element);
  Assembly<Real> first(pattern, parse_plan("K1rs"));
  first.assemble(values);
  Assembly<Real> second = first.another();
  EXPECT_EQ(&second.matrix().pattern(), &first.matrix().pattern());
  for (const double stored : second.matrix().values_in_basis()) ASSERT_EQ(stored, 0);
  second.assemble(std::vector<double>(values.size(), 1));
  Assembly<Real> of_given(
      pattern, Operator<Real>(second.matrix(),
                              std::vector<double>(static_cast<std::size_t>(pattern.entries()))));
  of_given.assemble(values);
  EXPECT_EQ(bytes_of(of_given.matrix()), bytes_of(first.matrix()));
  EXPECT_NE(bytes_of(second.matrix()), bytes_of(first.matrix()));
}

TEST(ElementPatterns, AreThoseOfTheMeshHoweverItIsGiven) {
  Seed seed(704);
  const ElementMesh mesh = random_elements("", 70, 120, 4, 4, seed.generator);
  const std::vector<std::int32_t> narrow(mesh.first.begin(), mesh.first.end());
  const ElementPattern by_arity =
      element_pattern({mesh.nodes, mesh.elements(), mesh.node.data(), 4});
  ElementsView view = mesh.view();
  view.first = OffsetsView(narrow.data());
  const ElementPattern by_offsets = element_pattern(view);
  EXPECT_EQ(by_arity.column, by_offsets.column);
  EXPECT_EQ(by_arity.term, by_offsets.term);
  EXPECT_EQ(by_arity.corner, by_offsets.corner);
  EXPECT_TRUE(by_offsets.first_node.empty());
  for (std::size_t i = 0; i < by_arity.term.size(); ++i) {
    const unsigned term = by_arity.term[i];
    EXPECT_EQ(term, by_arity.code.element_of_term(term) * 16 +
                        by_arity.code.first_of_term(term) * 4 + by_arity.code.last(term));
  }
}

TEST(ElementPatterns, RefuseMeshesThatAreNone) {
  const std::vector<Index> node = {0, 1, 2, 1, 2, 3};
  const std::vector<Offset> first = {0, 3, 3, 6}, late = {1, 3, 6};
  const auto refuse = [&](ErrorKind kind, const std::string& message, const ElementsView& view) {
    expect_error(kind, message, [&] { element_pattern(view); });
  };
  refuse(ErrorKind::usage, "a mesh of 0 elements and 4 nodes has nothing to assemble",
         {4, 0, node.data(), 3});
  refuse(ErrorKind::usage, "a mesh of 2 elements and 0 nodes has nothing to assemble",
         {0, 2, node.data(), 3});
  const std::string lacks =
      "a mesh needs the nodes of its elements and the number of nodes of each";
  refuse(ErrorKind::usage, lacks, {4, 2, nullptr, 3});
  refuse(ErrorKind::usage, lacks, {4, 2, node.data(), 0});
  refuse(ErrorKind::usage, "element 1 of the mesh has no nodes",
         {4, 3, node.data(), 0, OffsetsView(first.data())});
  refuse(ErrorKind::usage, "offsets of elements must begin at 0",
         {4, 2, node.data(), 0, OffsetsView(late.data())});
  refuse(ErrorKind::out_of_range,
         "element 1 of the mesh names node 3, but there are 3 nodes, counted from 0",
         {3, 2, node.data(), 3});
  const std::vector<Index> negative = {0, 1, -1};
  refuse(ErrorKind::out_of_range,
         "element 0 of the mesh names node -1, but there are 4 nodes, counted from 0",
         {4, 1, negative.data(), 3});
  // The mesh is refused before its nodes are read.
  refuse(ErrorKind::unsupported,
         "a mesh of 268435456 elements of up to 4 nodes is too large; the limit of elements is "
         "268435455",
         {4, Offset(1) << 28, node.data(), 4});
  refuse(ErrorKind::unsupported,
         "a mesh of 1 elements of up to 70000 nodes is too large; the limit of elements is 0",
         {4, 1, node.data(), 70000});
}

TEST(AssemblyOfReals, RefusesWhatDoesNotFit) {
  const ElementMesh mesh = mixed_mesh(), other = mixed_mesh(705);
  Assembly<Real> assembly(mesh.view(), parse_plan("K1rs"));
  const std::size_t terms = element_entries<double>(mesh, 1, ElementOrder::by_element).size();
  std::vector<double> values(terms - 1);
  expect_error(ErrorKind::size_mismatch,
               "an assembly of " + std::to_string(terms) +
                   " element values of 1 scalars each was given " + std::to_string(terms - 1) +
                   " scalars",
               [&] { assembly.assemble(values); });
  const std::vector<double> vectors(mesh.node.size());
  std::vector<double> sums(90), short_sums(89);
  expect_error(ErrorKind::size_mismatch, "the assembled field is not in the matrix's row basis",
               [&] { assembly.assemble_vector(vectors, sums); });
  expect_error(ErrorKind::size_mismatch,
               "an assembly of 90 rows of 1 components is used with a field of 89 rows of 1",
               [&] { assembly.assemble_vector(vectors, short_sums); });
  expect_error(ErrorKind::size_mismatch,
               "the matrix was not built on the pattern of the elements that are assembled",
               [&] { Assembly<Real>(element_pattern(other.view()), assembly.matrix()); });
  // The same sequence of columns, in other rows.
  const Index nodes[] = {0, 1, 2};
  const Offset offsets[] = {0, 2, 2, 3};
  const double zeros[3] = {};
  CsrView<Real> shifted;
  shifted.rows = shifted.columns = 3;
  shifted.offsets = OffsetsView(offsets);
  shifted.column = nodes;
  shifted.values = zeros;
  expect_error(ErrorKind::size_mismatch,
               "the matrix was not built on the pattern of the elements that are assembled", [&] {
                 Assembly<Real>(element_pattern({3, 3, nodes, 1}), Operator<Real>(shifted, Plan{}));
               });
  const Assembly<Real> taken = std::move(assembly);
  expect_error(ErrorKind::usage, "this assembly was moved from",
               [&] { assembly.assemble(values); });  // NOLINT(bugprone-use-after-move)
}

}  // namespace
}  // namespace assembly
