// User-written entries, as a C++ type or a definition, become programs for a GPU that need not be
// present. Skips without NVRTC.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/operator.hpp"
#include "solvers/gpu_loops/persistent_program.hpp"
#include "solvers/gpu_loops/step_program.hpp"
#include "solvers/krylov/method_programs.hpp"
#include "solvers/krylov/method_rows.hpp"
#include "spmv/defined_entry_text.hpp"
#include "spmv/entry_program.hpp"
#include "spmv/nvrtc.hpp"
#include "spmv/product_program.hpp"
#include "support/dual_complex_text.hpp"
#include "support/entry_definitions.hpp"
#include "support/random_matrix.hpp"
#include "support/row_weights.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

const cuda::EntryShape dual_complex_shape{4, 8, 4, 4, 8, 2};

template <class E>
EntryText text_of_type() {
  return heddle::detail::entry_text_of<E>::text();
}

TEST(EntryHeader, IsFoundByItsFilesName) {
  const EntryText text = text_of_type<dual_complex<double>>();
  EXPECT_EQ(text.type, "dual_complex<double>");
  ASSERT_EQ(text.headers, std::vector<std::string>{"dual_complex.hpp"});
  EXPECT_NE(entry_header("dual_complex.hpp").find("struct dual_complex {"), std::string::npos);
}

std::string message_for(const std::string& name) {
  try {
    entry_header(name);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    return error.what();
  }
  return "";
}

TEST(EntryHeader, ThatIsNotThereOrThereTwiceIsRefused) {
  EXPECT_NE(message_for("absent.hpp").find("heddle_embed_entry(target absent.hpp)"),
            std::string::npos);
  register_entry_header("twice.hpp", "one");
  register_entry_header("twice.hpp", "one");  // from two libraries of one program
  EXPECT_EQ(entry_header("twice.hpp"), "one");
  register_entry_header("twice.hpp", "another");
  EXPECT_NE(message_for("twice.hpp").find("two headers of this program"), std::string::npos);
}

class UserEntryText : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_cuda) GTEST_SKIP() << "built without CUDA";
    try {
      cuda::nvrtc();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

/// Compiles the product, residual, Jacobi and a loop over an entry, as a GPU's solver does.
void compile_all(const EntryText& text, const EntryText& exact, const cuda::EntryShape& shape,
                 const std::string& layout) {
  if constexpr (has_cuda) {
    const Plan plan = parse_plan(layout);
    Seed seed(11);
    const Pattern pattern = random_pattern({.rows = 50, .columns = 50}, seed.generator);
    const PatternView view{50, 50, OffsetsView(pattern.offsets.data()), pattern.column.data()};
    const auto basis = Basis::make(view, plan, Device::cpu());
    const auto sliced = SlicedPattern::build(view, plan, basis, basis,
                                             shape.components * shape.stored_bytes, Device::cpu());
    const cuda::Product product(text, exact, shape, sliced, plan, nullptr, Device::cpu());
    const std::string program =
        "extern \"C\" __global__ void __launch_bounds__(Plan::block)\n"
        "p(const __grid_constant__ heddle::device::ArgumentsOf<Plan> arguments) {\n"
        "  heddle::device::product<Plan>(arguments);\n"
        "}\n";
    const std::string jacobi =
        "#include \"heddle/kernels/diagonal.cuh\"\n"
        "struct DiagonalPlan : Plan {\n"
        "  static constexpr int block = 256;\n"
        "  static constexpr double epsilon = 1e-16;\n"
        "};\n"
        "using Stored = heddle::stored_scalar_t<Plan::entry>;\n"
        "using Inverse = heddle::stored_scalar_t<heddle::arithmetic_t<Plan::entry>>;\n"
        "extern \"C\" __global__ void invert(\n"
        "    const __grid_constant__ heddle::device::InvertArguments<Stored, Inverse> a) {\n"
        "  heddle::device::invert_diagonal<DiagonalPlan>(a);\n"
        "}\n"
        "extern \"C\" __global__ void apply(\n"
        "    const __grid_constant__ heddle::device::RowArguments a) {\n"
        "  heddle::device::apply_rows<heddle::device::DiagonalRows<Plan::entry, Plan::soa>>(a);\n"
        "}\n";
    const std::string loop =
        "#include \"heddle/kernels/conjugate_gradient_persistent.cuh\"\n"
        "struct LoopPlan : Plan {\n"
        "  using inverse = heddle::arithmetic_t<Plan::entry>;\n"
        "  static constexpr int persistent_block = 256;\n"
        "  static constexpr bool jacobi = true, in_shared = true;\n"
        "};\n"
        "extern \"C\" __global__ void solve(\n"
        "    const __grid_constant__ heddle::device::PersistentArgumentsOf<LoopPlan> a) {\n"
        "  heddle::device::conjugate_gradient<LoopPlan>(a);\n"
        "}\n";
    for (const auto epilogue :
         {device::store_scaled, device::store_residual, device::store_and_dot}) {
      const cuda::ProductProgram of = product.program(epilogue);
      const EntryText& entry = of.entry;
      SCOPED_TRACE(entry.type);
      const std::string body = cuda::plan_text(of) +
                               (epilogue == device::store_and_dot ? loop : program) +
                               (epilogue == device::store_scaled ? jacobi : "");
      const auto image = cuda::compile_kernel(cuda::program_over(entry, "user entry", body), 90);
      EXPECT_EQ(std::string(image.data.begin() + 1, image.data.begin() + 4), "ELF");
    }
    const auto image = cuda::compile_kernel(
        cuda::persistent_source({product.program(device::store_and_dot), 512, true, false,
                                 cuda::PersistentMethod::bicgstab}),
        90);
    EXPECT_EQ(std::string(image.data.begin() + 1, image.data.begin() + 4), "ELF");
  }
}

TEST_F(UserEntryText, OfATypeCompiles) {
  const EntryText text = text_of_type<dual_complex<double>>();
  compile_all(text, text, dual_complex_shape, "C=32,sigma=n,T=2,inner=aosoa16");
}

TEST_F(UserEntryText, OfATypeInSinglePrecisionComputesResidualsInDouble) {
  using E = dual_complex<float>;
  const EntryText exact = text_of_type<heddle::detail::promoted<E>::type>();
  EXPECT_EQ(exact.type, "heddle::stored_as<float, dual_complex<double>>");
  compile_all(text_of_type<E>(), exact, {4, 4, 4, 4, 4, 2}, "C=1");
}

template <class S>
void compile_definition(const Definition& definition, int ring, const std::string& layout) {
  SCOPED_TRACE(definition->name);
  const int K = definition->size(), V = definition->vector_size(), bytes = sizeof(S);
  compile_all(text_of<S>(*definition), text_of<S, double>(*definition),
              {K, bytes, V, V, bytes, ring}, layout);
}

TEST_F(UserEntryText, OfADefinitionCompiles) {
  compile_definition<double>(split_complex_definition(), 1, "K2rs");
  compile_definition<double>(dual_complex_definition(), 2, "C=16,T=4,inner=aosoa");
  compile_definition<float>(quaternion_definition(), 4, "C=32,inner=soa,vector=soa");
}

TEST_F(UserEntryText, OfAPreconditionerThatActsByRowsJoinsTheUpdatesOfAMethod) {
  if constexpr (has_cuda) {
    const EntryText weights =
        row_weights_text(detail::entry_text_of<real<double, 3>>::text(), false);
    for (const MethodInfo& method : {method_rows::conjugate_gradient, method_rows::minres}) {
      const auto image = cuda::compile_kernel(
          cuda::preconditioned_step_source(weights, program_of_method(method, Ring::real, true), 1),
          90);
      EXPECT_EQ(std::string(image.data.begin() + 1, image.data.begin() + 4), "ELF");
    }
  }
}

std::string error_of(const EntryText& text, const cuda::EntryShape& shape) {
  try {
    compile_all(text, text, shape, "C=32");
  } catch (const cuda::CompileError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(UserEntryText, ThatDoesNotCompileNamesItsOwnLine) {
  std::string text(entry_header("dual_complex.hpp"));
  const std::string right = "multiply_add(dual, p.b(), x.a())";
  const std::size_t at = text.find(right);
  ASSERT_NE(at, std::string::npos);
  const auto line =
      1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
  text.replace(at, right.size(), "multiply_add(dual, p.c(), x.a())");
  const std::string message =
      error_of({"dual_complex<double>", {"mine.hpp"}, {{"mine.hpp", text}}}, dual_complex_shape);
  EXPECT_NE(message.find("mine.hpp:" + std::to_string(line) + ": "), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);

  text.insert(text.find("#include"), "#include <cmath>\n");
  const std::string of_include =
      error_of({"dual_complex<double>", {"mine.hpp"}, {{"mine.hpp", text}}}, dual_complex_shape);
  EXPECT_NE(of_include.find("mine.hpp:4: "), std::string::npos) << of_include;
}

TEST_F(UserEntryText, ThatIsOtherOnTheHostIsRefused) {
  const EntryText text = text_of_type<dual_complex<double>>();
  cuda::EntryShape wider = dual_complex_shape, narrower = dual_complex_shape,
                   commuting = dual_complex_shape;
  wider.components = 5;
  narrower.stored_bytes = 4;
  commuting.ring = 4;
  EXPECT_NE(error_of(text, wider).find("heddle entry: components on the host: 5"),
            std::string::npos)
      << error_of(text, wider);
  EXPECT_NE(error_of(text, narrower).find("heddle entry: bytes of a stored scalar"),
            std::string::npos);
  EXPECT_NE(error_of(text, commuting).find("heddle entry: components of its ring"),
            std::string::npos);
}

}  // namespace
