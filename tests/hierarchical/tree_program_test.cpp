// Runs in the release.
// GPU programs for trees compile for every entry, form and node size; no GPU is needed.
#include "hierarchical/tree_program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/config.hpp"
#include "heddle/detail/entry_table.hpp"
#include "heddle/kernels/trees/tree_operation.hpp"
#include "heddle/kernels/trees/tree_sum_operation.hpp"
#include "hierarchical/absolute_row_sums.hpp"
#include "spmv/defined_entry_text.hpp"
#include "spmv/device_linker.hpp"
#include "spmv/nvrtc.hpp"
#include "support/compiled_images.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/tuning/kernel_variants.hpp"

namespace heddle::test {
namespace {

template <class E>
cuda::TreeEntry tree_entry(detail::TreeForm form) {
  const VariantEntry entry = variant_entry<E>();
  return {entry.text, entry.exact, entry.shape, form, entry.shape.result_components};
}

/// Each entry in each of its forms, every node size and every epilogue with each form: all of them
/// if `deeply`, otherwise one program for each entry and form.
std::vector<cuda::KernelSource> variants(bool deeply, int architecture) {
  constexpr std::array epilogues = {device::store_scaled, device::store_and_dot,
                                    device::store_residual};
  std::vector<cuda::KernelSource> sources;
  std::size_t turn = 0;
  const auto add = [&](const cuda::TreeEntry& entry) {
    for (int log2_size = 2; log2_size <= 8; ++log2_size) {
      for (const device::Epilogue epilogue : epilogues) {
        const std::size_t number =
            static_cast<std::size_t>(log2_size - 2) * epilogues.size() + epilogue;
        if (!deeply && number % 21 != turn % 21) continue;
        const int longest = device::longest_run(entry.shape.components * entry.shape.stored_bytes);
        const int run = number % 4 == 1 ? 1 : longest;
        try {
          const int warps = number % 5 == 2 ? 8 : number % 5 == 3 ? 1 : 0;
          sources.push_back(cuda::tree_source(
              cuda::tree_program(entry, log2_size, run, epilogue, warps), architecture));
        } catch (const Error& error) {
          EXPECT_EQ(error.kind(), ErrorKind::unsupported) << error.what();
        }
      }
    }
    turn += 5;  // coprime to 21
  };
  const auto add_forms = [&]<class E>() {
    using enum detail::TreeForm;
    add(tree_entry<E>(direct));
    if constexpr (detail::has_form<adjoint, arithmetic_t<E>>) add(tree_entry<E>(adjoint));
    if constexpr (detail::has_form<transpose, arithmetic_t<E>>) add(tree_entry<E>(transpose));
  };
  for (std::size_t kind = 0; kind < entry_kind_names.size(); ++kind) {
    visit_entry<double>(static_cast<EntryKind>(kind), [&]<class E>() {
      add_forms.template operator()<E>();
      add_forms.template operator()<typename E::template with_scalar<float>>();
      add_forms.template operator()<stored_as<float, E>>();
    });
  }
  const auto add_definition = [&](const Definition& definition) {
    const int K = definition->size(), V = definition->vector_size();
    for (const auto form : {detail::TreeForm::direct, detail::TreeForm::adjoint}) {
      if (form != detail::TreeForm::direct && !definition->has_adjoint()) continue;
      add({text_of<float>(*definition),
           text_of<float, double>(*definition),
           {K, sizeof(float), V, V, sizeof(float), ring_size(definition->ring)},
           form,
           V});
    }
  };
  add_definition(quaternion_definition());
  add_definition(dual_complex_definition());
  return sources;
}

TEST(TreeKernelVariants, Compile) {
  try {
    cuda::nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  const auto sources = variants(std::getenv("HEDDLE_DEEP_CHECK") != nullptr, 90);
  EXPECT_GE(sources.size(), 60U);
  try {
    const auto images = compiled_images(sources, 90);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const std::string_view image(images[i].data.data(), images[i].data.size());
      EXPECT_NE(image.find("heddle_tree_product"), image.npos) << sources[i].name;
    }
    for (const int architecture : {80, 120}) {
      if (std::binary_search(cuda::nvrtc().architectures.begin(), cuda::nvrtc().architectures.end(),
                             architecture)) {
        auto others = variants(false, architecture);
        others.resize(6);
        compiled_images(std::move(others), architecture);
      }
    }
  } catch (const cuda::CompileError& error) {
    FAIL() << error.what() << "\n" << error.log();
  }
}

/// Also links them with the device's runtime.
TEST(TreeKernelVariants, OfSchedulersCompile) {
  if (!has_cuda) GTEST_SKIP() << "a build without CUDA has no runtime of the device to link";
  try {
    cuda::nvrtc();
    cuda::link_with_device_runtime({}, 90, "");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::internal) GTEST_SKIP() << error.what();
  }
  std::vector<cuda::KernelSource> sources;
  const auto add = [&]<class E, detail::TreeForm form>() {
    using S = vector_scalar_t<E>;
    EntryText text = detail::entry_texts<E>().own;
    text.type = "heddle::TreeProductOperation<" + text.type + ", " +
                std::string(detail::scalar_name<S>()) + ", heddle::detail::TreeForm(" +
                std::to_string(static_cast<int>(form)) + ")>";
    sources.push_back(cuda::scheduler_source(text, sizeof(TreeProductOperation<E, S, form>)));
  };
  using enum detail::TreeForm;
  add.operator()<real<double>, direct>();
  add.operator()<quaternion<double>, adjoint>();
  add.operator()<stored_as<float, block<double, 3, 3>>, adjoint>();
  const EntryText users{"heddle::test::AbsoluteRowSums<heddle::complex<float>, double>",
                        {"heddle/entries/complex.hpp", "absolute_row_sums.hpp"}};
  sources.push_back(cuda::scheduler_source(users, sizeof(AbsoluteRowSums<complex<float>, double>)));
  sources.push_back(cuda::scheduler_source(
      {"heddle::TreeSumOperation", {"heddle/kernels/trees/tree_sum_operation.hpp"}},
      sizeof(TreeSumOperation)));
  try {
    // Optimised as they run: their kernels bound registers, which calls of functions would exceed.
    const auto images = cuda::compile_kernels(sources, 90);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const std::string_view image(images[i].data.data(), images[i].data.size());
      for (const char* const kernel : {"heddle_control_tasks", "run_tasks"}) {
        EXPECT_NE(image.find(kernel), image.npos) << sources[i].name;
      }
    }
  } catch (const cuda::CompileError& error) {
    FAIL() << error.what() << "\n" << error.log();
  }
}

TEST(TreeKernelVariants, RefuseWhatSharedMemoryCannotHold) {
  const auto warps = [](int log2_size, int wanted = 0) {
    return cuda::warps_of(cuda::tree_program(tree_entry<real<double, 30>>(detail::TreeForm::direct),
                                             log2_size, 1, device::store_scaled, wanted));
  };
  EXPECT_EQ(warps(2), 4);
  EXPECT_EQ(warps(2, 8), 8);
  EXPECT_EQ(warps(5, 8), 4);
  EXPECT_EQ(warps(7), 1);
  expect_error(ErrorKind::unsupported,
               "nodes of 256 rows of entries this large exceed a GPU's shared memory; use smaller "
               "nodes",
               [&] { warps(8); });
}

}  // namespace
}  // namespace heddle::test
