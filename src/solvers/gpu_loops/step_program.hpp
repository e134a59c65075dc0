// The text of a method's steps as kernels. Needs no GPU.
#pragma once

#include <string>
#include <vector>

#include "heddle/detail/method_program.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/chunks.hpp"
#include "spmv/entry_program.hpp"

namespace heddle::cuda {

/// How the products of a method's iteration end, all the same way.
struct LoopProduct {
  device::Epilogue epilogue = device::store_and_dot;
  int ring = 0;  // components of the ring of its sums; 0 if they have none
};
LoopProduct product_of_loop(const detail::MethodProgram& program);

/// True if one kernel does the update at step i and the preconditioner after it, provided that it
/// acts by rows. Over rings other than the real numbers a thread has no row.
bool joins_next(const detail::MethodProgram& program, const methods::Facts& facts, int i);
/// True if the sums of step i need a kernel of their own, after work that is not the loop's.
/// `joined`: updates and preconditioner are one kernel.
bool sums_alone(const detail::MethodProgram& program, const methods::Facts& facts, int i,
                bool joined);

/// The update that one launch may do together with the update at step i, if only a decision lies
/// between the two; 0 if there is none.
int update_after(const detail::MethodProgram& program, const methods::Facts& facts, int i);

/// The method as a type named `Method`. `parts_of_product`: partial sums of a product that make the
/// sum of a group of 256 threads, see kernels/arguments.hpp. `has_ranks`: kernels may join sums of
/// ranks.
std::string method_definition(const detail::MethodProgram& program, int parts_of_product,
                              bool has_ranks = false);
/// Adds the text that defines the method, if it is not the library's.
void add_header_of(const detail::MethodProgram& program, KernelSource& source);
/// A name such as "iteration_2", for `StepProgram` and, after `heddle_`, for kernels joined with a
/// preconditioner.
std::string name_of_step(bool start, int i);

struct StepForm {
  int scalar_bytes = 8;
  bool contiguous = true;    // the elements of the ring are contiguous
  bool joined = false;       // see `sums_alone`: joined steps are not in the source
  int parts_of_product = 1;  // see `method_definition`
  int chunks_of_thread = 0;  // in two updates together, see `update_after`; 0 for none
  int systems = 1;           // most that a kernel takes side by side
  int basis_bytes = 0;       // per scalar of the basis; 0: same as all others
  bool by_groups = false;    // partial sums are those of 256 rows, whose elements are contiguous
};

inline constexpr const char* step_kernel = "heddle_step";
struct StepProgram {
  std::string name;     // "iteration_2", "sum_iteration_4", "decide", "products_iteration_2"
  KernelSource source;  // text with the kernel `step_kernel`
};

/// Names of the updates that a preconditioner which acts by rows is joined to.
std::vector<std::string> joined_steps(const detail::MethodProgram& program);
/// Kernels `heddle_STEP` for each of them; `rows` is the preconditioner's type, described in
/// kernels/rows.cuh.
KernelSource preconditioned_step_source(const EntryText& rows, const detail::MethodProgram& program,
                                        int parts_of_product, int systems = 1,
                                        bool has_ranks = false);

/// A program for every update (the first of two together), for sums alone, for a decision at the
/// end of the start, and for a method's operations on its basis.
std::vector<StepProgram> step_programs(const detail::MethodProgram& program, const StepForm& form);

}  // namespace heddle::cuda
