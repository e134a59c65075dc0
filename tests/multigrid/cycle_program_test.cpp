// Programs of a multigrid cycle compile for the levels' entries and layouts; no GPU is needed.
#include "solvers/cycles/cycle_program.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/entries.hpp"
#include "heddle/error.hpp"
#include "solvers/preconditioners/diagonal_program.hpp"
#include "spmv/nvrtc.hpp"
#include "support/compiled_images.hpp"

namespace heddle::test {
namespace {

template <class E>
cuda::ProductProgram product_of(const std::string& plan) {
  const Plan parsed = parse_plan(plan);
  return {
      detail::entry_text_of<E>::text(),
      {E::components, sizeof(stored_scalar_t<E>), vector_entry_t<E>::components,
       result_entry_t<E>::components, sizeof(vector_scalar_t<E>), ring_size(arithmetic_t<E>::ring)},
      parsed,
      parsed.layout.lanes == Layout::all_rows ? 1000 : parsed.layout.lanes,
      device::store_scaled};
}

template <class E>
cuda::CycleForm smoothing(const std::string& plan, cuda::ProductProgram product) {
  return {std::move(product),
          cuda::diagonal_rows(detail::entry_text_of<E>::text(), parse_plan(plan).layout.vector)};
}

TEST(CycleProgram, CompilesForTheLevelsOfAHierarchy) {
  try {
    cuda::nvrtc();
  } catch (const Error& error) {
    GTEST_SKIP() << error.what();
  }
  using Fine = block<double, 3, 3>;
  using Coarse = block<double, 6, 6>;
  const std::string fine = "C=16,sigma=256,threshold=8,inner=aosoa16", rows = "C=32,T=16";
  const std::string long_rows = "C=32,T=32,inner=aosoa16,column-bits=16";
  const std::vector<cuda::CycleForm> solid = {
      smoothing<Fine>(fine, product_of<Fine>(fine)),
      {product_of<block<double, 3, 6>>("C=32,T=2"), std::nullopt},
      smoothing<Coarse>(rows, product_of<block<double, 6, 3>>("C=32,T=32"))};
  const std::string apart = "C=n,vector=soa,inner=soa";
  using Narrow = stored_as<float, complex<double>>;
  using Turn = quaternion<float>;
  using Scaled = encoded<scaled_code, Fine>;
  const std::vector<cuda::KernelSource> sources = {
      cuda::cycle_source(solid),
      cuda::step_source(smoothing<complex<double>>(apart, product_of<Narrow>(apart))),
      cuda::step_source(smoothing<Fine>("C=32", product_of<Scaled>("C=32"))),
      cuda::step_source(smoothing<Turn>("C=1", product_of<Turn>("C=1,load=evict-first"))),
      cuda::step_source(smoothing<Coarse>(rows, product_of<block<double, 6, 3>>(long_rows)), 6),
      cuda::step_source(smoothing<Fine>(long_rows, product_of<Fine>(long_rows)), 3)};
  for (const cuda::KernelImage& image : compiled_images(sources, 90)) {
    EXPECT_FALSE(image.data.empty());
  }
}

}  // namespace
}  // namespace heddle::test
