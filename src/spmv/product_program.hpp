// The text of a product's program, for exactly one entry, layout and schedule. Needs no GPU.
#pragma once

#include <string>

#include "heddle/detail/product_cuda.hpp"
#include "kernel_compiler.hpp"

namespace heddle::cuda {

/// The properties that a program around a product is written for.
struct ProductProgram {
  EntryText entry;
  EntryShape shape;
  Plan plan;
  Index lanes;  // C of the pattern, if C = n is a number
  device::Epilogue epilogue = device::store_scaled;
  int ring = 1;                 // components of a sum of `store_and_dots`
  bool in_loop = false;         // see Product::Call
  bool several_fields = false;  // several side by side, in a loop
};

/// `struct Plan { ... };` for the kernels, placed after what they include.
std::string plan_text(const ProductProgram& program);

/// The layout of a plan under one schedule for all: for work that runs a few times a solve, or has
/// a schedule of its own. Plans of one layout thus share its program.
Plan with_plain_schedule(const Plan& plan);

/// The plan that a product with this epilogue runs under: residuals have the plain schedule.
Plan plan_of_product(const Plan& plan, device::Epilogue epilogue);

/// Most blocks of `threads` threads that a multiprocessor of an architecture (90 = sm_90) holds.
int max_blocks(int threads, int architecture);

/// The kernel is `heddle_product`. Its bound on registers is for an architecture: as many blocks as
/// the plan says, but no more than a multiprocessor holds; a compiler ignores more.
KernelSource product_source(const ProductProgram& program, int architecture);

}  // namespace heddle::cuda
