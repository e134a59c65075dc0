#include "step_program.hpp"

#include <utility>

namespace heddle::cuda {

namespace {

const char* name_of(Ring ring) {
  return ring == Ring::real      ? "heddle::Ring::real"
         : ring == Ring::complex ? "heddle::Ring::complex"
                                 : "heddle::Ring::quaternion";
}

const char* truth(bool value) { return value ? "true" : "false"; }

/// The parameter `a` of a kernel, and the part of it that a block takes.
struct Parameter {
  Parameter(const std::string& arguments, int systems)
      : declared("(const __grid_constant__ heddle::device::" +
                 (systems == 1 ? arguments
                               : "OfSystems<heddle::device::" + arguments + ", " +
                                     std::to_string(systems) + ">") +
                 " a)"),
        taken(systems == 1 ? "(a)" : "(a.of[blockIdx.y])") {}
  std::string declared, taken;
};

template <class Body>
void for_each_joined_step(const detail::MethodProgram& program, const Body& body) {
  for (const bool start : {true, false}) {
    const methods::Facts& facts = start ? program.start : program.iteration;
    for (int i = 0; i < facts.steps; ++i) {
      if (joins_next(program, facts, i)) body(start, i);
    }
  }
}

}  // namespace

LoopProduct product_of_loop(const detail::MethodProgram& program) {
  for (int i = 0; i < program.iteration.steps; ++i) {
    const methods::StepFacts& step = program.iteration.step[i];
    if (step.kind != methods::StepKind::product) continue;
    if (step.sums == 0) return {device::store_scaled};
    if (step.sums == 2) return {device::store_and_dots, ring_size(program.ring)};
    const bool is_plain =
        !program.iteration.sum[step.first_sum].conjugates && program.ring != Ring::real;
    return is_plain ? LoopProduct{device::store_and_plain_dot, 2} : LoopProduct{};
  }
  return {};
}

bool joins_next(const detail::MethodProgram& program, const methods::Facts& facts, int i) {
  if (program.ring != Ring::real || i + 1 >= facts.steps) return false;
  const methods::StepFacts& next = facts.step[i + 1];
  return facts.step[i].kind == methods::StepKind::update &&
         next.kind == methods::StepKind::precondition && next.in != next.out;
}

bool sums_alone(const detail::MethodProgram& program, const methods::Facts& facts, int i,
                bool joined) {
  if (facts.step[i].kind != methods::StepKind::precondition ||
      facts.own_numbers(i, program.ring) == 0)
    return false;
  return !(joined && i > 0 && joins_next(program, facts, i - 1));
}

int update_after(const detail::MethodProgram& program, const methods::Facts& facts, int i) {
  if (program.ring != Ring::real || !facts.decides_before(i) ||
      facts.own_numbers(i, program.ring) == 0)
    return 0;
  // A second product brings vectors that registers do not hold.
  int products = 0;
  for (int k = 0; k < facts.steps; ++k) {
    products += facts.step[k].kind == methods::StepKind::product ? 1 : 0;
  }
  if (products != 1) return 0;
  if (facts.step[i].kind != methods::StepKind::update) return 0;
  int next = i + 1;
  const auto is = [&](methods::StepKind kind) {
    return next < facts.steps && facts.step[next].kind == kind;
  };
  if (is(methods::StepKind::precondition) && facts.step[next].in == facts.step[next].out &&
      facts.own_numbers(next, program.ring) == 0) {
    ++next;
  }
  if (!is(methods::StepKind::decide)) return 0;
  ++next;
  return is(methods::StepKind::update) && facts.own_numbers(next, program.ring) == 0 ? next : 0;
}

std::string method_definition(const detail::MethodProgram& program, int parts_of_product,
                              bool has_ranks) {
  return "#include \"" + program.text.header + "\"\nstruct Method : " + program.text.type + "<" +
         name_of(program.ring) + ", " + truth(program.preconditioned) +
         "> {\n  static constexpr unsigned parts_of_product = " + std::to_string(parts_of_product) +
         ";\n  static constexpr bool has_ranks = " + truth(has_ranks) + ";\n};\n";
}

void add_header_of(const detail::MethodProgram& program, KernelSource& source) {
  const std::string& header = program.text.header;
  if (header.starts_with("heddle/methods/")) return;
  source.headers.push_back({header, std::string(entry_header(header))});
}

std::string name_of_step(bool start, int i) {
  return (start ? "start_" : "iteration_") + std::to_string(i);
}

namespace {

/// The programs of a loop, one kernel each, so that they compile in parallel.
class StepPrograms {
 public:
  StepPrograms(const detail::MethodProgram& program, const StepForm& form)
      : program_(program), form_(form), scalar_(form.scalar_bytes == 4 ? "float" : "double") {
    add_listing(true);
    add_listing(false);
    if (program.start.decides_before(program.start.steps)) {
      add("decide", "decide_alone<Method, true, " + std::string(truth(form.joined)) + ">");
    }
    if (program.kept_numbers != nullptr) {
      add("solution", "basis_solution<Method>", of_basis);
      add("combination",
          "basis_combination<Method, " + scalar_ + ", " + basis_scalar() + ", Chunk, " +
              truth(!program.preconditioned || program.is_flexible) + ">",
          of_basis);
    }
  }

  std::vector<StepProgram> take() { return std::move(programs_); }

 private:
  void add_listing(bool start) {
    const methods::Facts& facts = start ? program_.start : program_.iteration;
    for (int i = 0; i < facts.steps; ++i) {
      const std::string step = std::string("<Method, ") + truth(start) + ", " + std::to_string(i) +
                               ", " + scalar_ + ", Chunk";
      const bool joins_pairs = form_.chunks_of_thread > 0 && !start && !has_pair_;
      const int second = joins_pairs ? update_after(program_, facts, i) : 0;
      if (second > 0) {
        has_pair_ = true;
        add(name_of_step(start, i),
            "update_together<Method, " + std::to_string(i) + ", " + std::to_string(second) + ", " +
                std::to_string(form_.chunks_of_thread) + ", " + scalar_ + ", Chunk>",
            joined_updates);
        i = second;
        continue;
      }
      if (facts.step[i].kind == methods::StepKind::update &&
          !(form_.joined && joins_next(program_, facts, i))) {
        add(name_of_step(start, i), "update" + step + ", " + truth(form_.joined) + ">");
      }
      if (sums_alone(program_, facts, i, form_.joined)) {
        add("sum_" + name_of_step(start, i), "sum" + step + ">");
      }
      if (facts.step[i].kind == methods::StepKind::orthogonalize) add_basis(start, i);
    }
  }
  std::string chunk() const {
    if (!form_.contiguous) return "PlanarChunk<Method::ring, " + scalar_ + ">";
    return (form_.by_groups ? "GroupedChunk<Method::ring, " : "ContiguousChunk<Method::ring, ") +
           scalar_ + ", true>";
  }
  std::string basis_scalar() const { return form_.basis_bytes == 4 ? "float" : scalar_; }
  void add_basis(bool start, int i) {
    const std::string name = name_of_step(start, i);
    const std::string fields = scalar_ + ", " + basis_scalar() + ", Chunk>";
    const std::string step = "<Method, " + std::to_string(i) + ", " + fields;
    if (start) return add(name, "basis_start" + step, of_basis);
    add("products_" + name, "basis_products<Method, " + fields, of_basis);
    add(name, "basis_append" + step, of_basis);
  }

  /// The text of a kernel around a call.
  struct Frame {
    const char* header;
    const char* arguments;
    const char* bounds;
  };
  static constexpr const char* bounds_of_step =
      "heddle::device::threads_of_step, heddle::device::resident_blocks_of_step";
  static constexpr Frame of_step{"step.cuh", "StepArguments", bounds_of_step};
  static constexpr Frame joined_updates{"joined_updates.cuh", "JoinedArguments", bounds_of_step};
  static constexpr Frame of_basis{"basis.cuh", "BasisArguments",
                                  "heddle::device::threads_of_basis"};

  void add(const std::string& name, const std::string& call, const Frame& frame = of_step) {
    const Parameter parameter(frame.arguments, form_.systems);
    KernelSource source;
    source.name = name + " of " + program_.text.type;
    add_header_of(program_, source);
    source.text =
        method_definition(program_, form_.parts_of_product, form_.by_groups) +
        "#include \"heddle/kernels/" + frame.header + "\"\nusing Chunk = heddle::cuda::" + chunk() +
        ";\nextern \"C\" __global__ void __launch_bounds__(" + frame.bounds + ")\n" + step_kernel +
        parameter.declared + " {\n  heddle::device::" + call + parameter.taken + ";\n}\n";
    programs_.push_back({name, std::move(source)});
  }

  const detail::MethodProgram& program_;
  const StepForm& form_;
  std::string scalar_;
  bool has_pair_ = false;
  std::vector<StepProgram> programs_;
};

}  // namespace

std::vector<std::string> joined_steps(const detail::MethodProgram& program) {
  std::vector<std::string> names;
  for_each_joined_step(program,
                       [&](bool start, int i) { names.push_back(name_of_step(start, i)); });
  return names;
}

KernelSource preconditioned_step_source(const EntryText& rows, const detail::MethodProgram& program,
                                        int parts_of_product, int systems, bool has_ranks) {
  const Parameter parameter("PreconditionedStepArguments", systems);
  std::string text = "#include \"heddle/kernels/preconditioned_step.cuh\"\n" +
                     method_definition(program, parts_of_product, has_ranks) +
                     "using Rows = " + rows.type + ";\n";
  for_each_joined_step(program, [&](bool start, int i) {
    text +=
        "extern \"C\" __global__ void __launch_bounds__(heddle::device::threads_of_rows)\nheddle_" +
        name_of_step(start, i) + parameter.declared +
        " {\n"
        "  heddle::device::update_and_precondition<Rows, Method, " +
        truth(start) + ", " + std::to_string(i) + ">" + parameter.taken + ";\n}\n";
  });
  KernelSource source = program_over(rows, "preconditioned steps of " + rows.type, text);
  add_header_of(program, source);
  return source;
}

std::vector<StepProgram> step_programs(const detail::MethodProgram& program, const StepForm& form) {
  return StepPrograms(program, form).take();
}

}  // namespace heddle::cuda
