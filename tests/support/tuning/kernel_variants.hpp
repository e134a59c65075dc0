// The space of programs that GPUs run: every entry in every layout and schedule, in products,
// preconditioners and loops.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "covering_array.hpp"
#include "heddle/error.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/entry_kind.hpp"
#include "solvers/gpu_loops/persistent_program.hpp"
#include "solvers/gpu_loops/step_program.hpp"
#include "solvers/krylov/method_programs.hpp"
#include "solvers/krylov/method_rows.hpp"
#include "solvers/preconditioners/diagonal_program.hpp"

namespace heddle::test {

struct VariantEntry {
  EntryText text;
  EntryText exact;
  cuda::EntryShape shape;
  int arithmetic_bytes;
  bool has_adjoint;
};

template <class E>
VariantEntry variant_entry() {
  using A = arithmetic_t<E>;
  return {detail::entry_text_of<E>::text(),
          detail::entry_text_of<typename detail::promoted<E>::type>::text(),
          {E::components, sizeof(stored_scalar_t<E>), vector_entry_t<E>::components,
           result_entry_t<E>::components, sizeof(vector_scalar_t<E>), ring_size(A::ring)},
          sizeof(stored_scalar_t<A>),
          has_adjoint<E>};
}

/// Every built-in entry in float, in double, and kept in float under double; and a real entry that
/// acts on several numbers at once, as in the simulations.
inline const std::vector<VariantEntry>& variant_entries() {
  static const std::vector<VariantEntry> entries = [] {
    std::vector<VariantEntry> all;
    for (std::size_t kind = 0; kind < entry_kind_names.size(); ++kind) {
      visit_entry<double>(static_cast<EntryKind>(kind), [&]<class E>() {
        all.push_back(variant_entry<typename E::template with_scalar<float>>());
        all.push_back(variant_entry<E>());
        all.push_back(variant_entry<stored_as<float, E>>());
      });
    }
    all.push_back(variant_entry<real<double, 4>>());
    return all;
  }();
  return entries;
}

enum class ProgramKind { product, diagonal, steps, preconditioned_steps, persistent };

/// A method whose steps are compiled.
struct VariantSteps {
  MethodInfo method;
  bool preconditioned = false;
  int basis_bytes = 0;  // see cuda::StepForm
  bool by_groups = false;
};

struct VariantProgram {
  const char* name;
  ProgramKind kind = ProgramKind::product;
  device::Epilogue epilogue = device::store_scaled;
  bool own_ring = true;  // sums in the entry's ring, otherwise real ones
  bool in_loop = false;
  bool jacobi = false;
  bool in_shared = false;
  std::vector<VariantSteps> steps = {};
  int chunks_together = 0;  // see cuda::StepForm
  cuda::PersistentMethod method = cuda::PersistentMethod::conjugate_gradient;
  int systems = 1;  // side by side
};

inline const std::vector<VariantProgram>& variant_programs() {
  using enum ProgramKind;
  using enum cuda::PersistentMethod;
  static const std::vector<VariantProgram> programs = {
      {.name = "product"},
      {.name = "dot", .epilogue = device::store_and_dot},
      {.name = "dot in a loop", .epilogue = device::store_and_dot, .in_loop = true},
      {.name = "real dots", .epilogue = device::store_and_dots, .own_ring = false},
      {.name = "dots in a loop", .epilogue = device::store_and_dots, .in_loop = true},
      {.name = "plain dot in a loop", .epilogue = device::store_and_plain_dot, .in_loop = true},
      {.name = "products with several fields",
       .epilogue = device::store_scaled,
       .in_loop = true,
       .systems = device::max_operands},
      {.name = "products with several fields and dots",
       .epilogue = device::store_and_dots,
       .in_loop = true,
       .systems = device::max_operands},
      {.name = "residual", .epilogue = device::store_residual},
      {.name = "diagonal", .kind = diagonal},
      {.name = "conjugate gradient",
       .kind = steps,
       .steps = {{method_rows::conjugate_gradient}, {method_rows::continued_conjugate_gradient}}},
      {.name = "conjugate gradient with one reduction",
       .kind = steps,
       .steps = {{method_rows::single_reduction_conjugate_gradient}}},
      {.name = "steps of several systems",
       .kind = steps,
       .steps = {{method_rows::conjugate_gradient}, {method_rows::bicgstab, true}},
       .systems = 3},
      {.name = "steps of several systems with Jacobi",
       .kind = preconditioned_steps,
       .jacobi = true,
       .steps = {{method_rows::conjugate_gradient, true}},
       .systems = device::max_operands},
      {.name = "two updates together",
       .kind = steps,
       .steps = {{method_rows::conjugate_gradient}},
       .chunks_together = 3},
      {.name = "MINRES with two updates together",
       .kind = steps,
       .steps = {{method_rows::minres}},
       .chunks_together = 2},
      {.name = "steps over the entry's ring",
       .kind = steps,
       .steps = {{method_rows::bicgstab},
                 {method_rows::bicgstab2},
                 {method_rows::bicgstab2, true},
                 {method_rows::gmres},
                 {method_rows::gmres, true},
                 {method_rows::fgmres, true},
                 {method_rows::gmres, false, 4},
                 {method_rows::fgmres, true, 4},
                 {method_rows::cocg},
                 {method_rows::cocr, true},
                 {method_rows::bicgstab, true, 0, true}}},
      {.name = "real BiCGStab's steps with Jacobi",
       .kind = steps,
       .own_ring = false,
       .jacobi = true,
       .steps = {{method_rows::bicgstab, true}}},
      {.name = "steps of MINRES, conjugate residual and Chebyshev iteration",
       .kind = steps,
       .steps = {{method_rows::minres},
                 {method_rows::conjugate_residual},
                 {method_rows::chebyshev_iteration},
                 {method_rows::chebyshev_iteration, true},
                 {method_rows::minres, false, 0, true}}},
      {.name = "steps with Jacobi on ranks",
       .kind = preconditioned_steps,
       .jacobi = true,
       .steps = {{method_rows::conjugate_gradient, true, 0, true}}},
      {.name = "steps with Jacobi and one reduction",
       .kind = preconditioned_steps,
       .jacobi = true,
       .steps = {{method_rows::single_reduction_conjugate_gradient, true}}},
      {.name = "MINRES with Jacobi",
       .kind = preconditioned_steps,
       .jacobi = true,
       .steps = {{method_rows::minres, true}}},
      {.name = "loop", .kind = persistent, .epilogue = device::store_and_dot},
      {.name = "loop in shared memory",
       .kind = persistent,
       .epilogue = device::store_and_dot,
       .in_shared = true},
      {.name = "loop with Jacobi",
       .kind = persistent,
       .epilogue = device::store_and_dot,
       .jacobi = true},
      {.name = "loop with Jacobi in shared memory",
       .kind = persistent,
       .epilogue = device::store_and_dot,
       .jacobi = true,
       .in_shared = true},
      {.name = "BiCGStab", .kind = persistent, .method = bicgstab},
      {.name = "real BiCGStab in shared memory",
       .kind = persistent,
       .own_ring = false,
       .in_shared = true,
       .method = bicgstab},
      {.name = "real BiCGStab with Jacobi",
       .kind = persistent,
       .own_ring = false,
       .jacobi = true,
       .method = bicgstab},
      {.name = "BiCGStab with Jacobi in shared memory",
       .kind = persistent,
       .jacobi = true,
       .in_shared = true,
       .method = bicgstab},
  };
  return programs;
}

/// Settings of a plan that affect its program; the first of each is compatible with all others.
inline const std::vector<std::vector<std::string>>& variant_settings() {
  static const std::vector<std::vector<std::string>> settings = {
      {"C=32", "C=1", "C=3", "C=16", "C=64", "C=n"},
      {"T=1", "T=2", "T=8", "T=32", "threshold=8"},
      {"inner=aos", "inner=soa", "inner=aosoa", "inner=aosoa16"},
      {"threads=256", "threads=32", "threads=64", "threads=96", "threads=128", "threads=192",
       "threads=224", "threads=384", "threads=512", "threads=768", "threads=1024"},
      {"vector=aos", "vector=soa"},
      {"unroll=2", "unroll=1", "unroll=3", "unroll=4", "unroll=8"},
      {"load=default", "load=streaming", "load=no-allocate", "load=evict-first"},
      {"schedule=full", "schedule=static", "schedule=dynamic"},
      {"column-bits=32", "column-bits=16"},
  };
  return settings;
}

/// Dimensions: the entry, the program, then the settings.
inline std::string plan_text_of(const Selection& selection) {
  std::string text;
  for (std::size_t i = 0; i < variant_settings().size(); ++i) {
    text += (i == 0 ? "" : ",") + variant_settings()[i][static_cast<std::size_t>(selection[i + 2])];
  }
  return text;
}
inline const VariantEntry& entry_of(const Selection& selection) {
  return variant_entries()[static_cast<std::size_t>(selection[0])];
}
inline const VariantProgram& program_of(const Selection& selection) {
  return variant_programs()[static_cast<std::size_t>(selection[1])];
}

/// Applies the library's own rules.
inline bool is_valid_variant(const Selection& selection) {
  const VariantProgram& program = program_of(selection);
  const bool solves = (program.kind == ProgramKind::persistent &&
                       program.method == cuda::PersistentMethod::conjugate_gradient) ||
                      (!program.steps.empty() && program.steps[0].method.needs_hermitian) ||
                      (program.in_loop && program.epilogue == device::store_and_dot);
  if (solves && !entry_of(selection).has_adjoint) return false;  // refused by conjugate gradient
  try {
    const Plan plan = parse_plan(plan_text_of(selection));
    cuda::check_plan_for_gpu(plan);
    if (program.kind != ProgramKind::persistent) return true;
    cuda::check_plan_for_persistent_loop(plan, false);
    // The loop chooses its blocks: powers of two, 256 threads or more.
    const bool suits = plan.gpu.block_size >= 256 && plan.gpu.block_size % 3 != 0;
    return suits && (!program.in_shared || cuda::may_lie_in_shared_memory(plan));
  } catch (const Error&) {
    return false;
  }
}

inline SelectionSpace variant_space() {
  SelectionSpace space{
      {static_cast<int>(variant_entries().size()), static_cast<int>(variant_programs().size())},
      is_valid_variant,
      {0, 1, 2, 3, 4, 5}};  // entry, program, C, T, inner, threads
  for (const auto& texts : variant_settings()) {
    space.sizes.push_back(static_cast<int>(texts.size()));
  }
  return space;
}

/// Joins all these programs, each in a namespace of its own.
inline cuda::KernelSource in_one_program(const std::vector<cuda::StepProgram>& programs) {
  cuda::KernelSource all = programs.front().source;
  all.text = "#include \"heddle/kernels/joined_updates.cuh\"\n";
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const cuda::KernelSource& source = programs[i].source;
    const std::string name = programs[i].name + "_" + std::to_string(i);
    std::istringstream lines(source.text);
    std::string includes, rest;
    for (std::string line; std::getline(lines, line);) {
      (line.starts_with("#include") ? includes : rest) += line + "\n";
    }
    all.text += includes + "#define heddle_step heddle_" + name + "\nnamespace " + name + " {\n" +
                rest + "}\n#undef heddle_step\n";
  }
  return all;
}

inline cuda::KernelSource source_of(const VariantEntry& entry, const VariantProgram& program,
                                    const Plan& plan, int architecture = 90) {
  constexpr Index some_rows = 1000;
  cuda::ProductProgram product{
      program.epilogue == device::store_residual ? entry.exact : entry.text,
      entry.shape,
      cuda::plan_of_product(plan, program.epilogue),
      plan.layout.lanes == Layout::all_rows ? some_rows : plan.layout.lanes,
      program.epilogue,
      program.own_ring ? entry.shape.ring : 1};
  // Quaternions have no bilinear products.
  if (program.epilogue == device::store_and_plain_dot && product.ring == 4) product.ring = 1;
  product.in_loop = program.in_loop;
  product.several_fields = program.systems > 1;
  const Ring ring = product.ring == 4   ? Ring::quaternion
                    : product.ring == 2 ? Ring::complex
                                        : Ring::real;
  const int parts = device::parts_of_group(plan.gpu.block_size);
  const auto steps = [&] {
    std::vector<cuda::StepProgram> all;
    for (const VariantSteps& of : program.steps) {
      const bool is_contiguous = plan.layout.vector == VectorLayout::aos || ring == Ring::real;
      for (cuda::StepProgram& step : cuda::step_programs(
               program_of_method(of.method, ring, of.preconditioned),
               {entry.shape.scalar_bytes, is_contiguous, of.preconditioned, parts,
                program.chunks_together, program.systems, of.basis_bytes, of.by_groups})) {
        all.push_back(std::move(step));
      }
    }
    return all;
  };
  cuda::KernelSource source =
      program.kind == ProgramKind::product ? cuda::product_source(product, architecture)
      : program.kind == ProgramKind::diagonal
          ? cuda::diagonal_source(product, entry.arithmetic_bytes)
      : program.kind == ProgramKind::steps ? in_one_program(steps())
      : program.kind == ProgramKind::preconditioned_steps
          ? cuda::preconditioned_step_source(cuda::diagonal_rows(product.entry, plan.layout.vector),
                                             program_of_method(program.steps[0].method, ring, true),
                                             parts, program.systems, program.steps[0].by_groups)
          : cuda::persistent_source(
                {product, plan.gpu.block_size, program.jacobi, program.in_shared, program.method});
  source.name = std::string(program.name) + " of " + entry.text.type + " under " + to_string(plan);
  return source;
}

inline cuda::KernelSource source_of(const Selection& selection, int architecture = 90) {
  return source_of(entry_of(selection), program_of(selection), parse_plan(plan_text_of(selection)),
                   architecture);
}

}  // namespace heddle::test
