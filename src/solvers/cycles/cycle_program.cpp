#include "cycle_program.hpp"

#include <algorithm>
#include <string>

#include "spmv/entry_program.hpp"

namespace heddle::cuda {

namespace {

/// Scalars of entries that a thread holds at a time: more would leave no registers.
constexpr int max_scalars_ahead = 32;

const std::string& rows_type(const CycleForm& form) {
  static const std::string none = "heddle::device::NoRows";
  return form.rows ? form.rows->type : none;
}

/// Adds the headers of an entry and of its rows, each once.
void add_text(const EntryText& text, EntryText& to) {
  for (const std::string& header : text.headers) {
    if (std::ranges::find(to.headers, header) == to.headers.end()) to.headers.push_back(header);
  }
  to.texts.insert(text.texts.begin(), text.texts.end());
}

void add_text(const CycleForm& form, EntryText& to) {
  add_text(form.product.entry, to);
  if (form.rows) add_text(*form.rows, to);
}

ProductProgram without_schedule(const ProductProgram& product) {
  ProductProgram plain = product;
  plain.plan = with_plain_schedule(product.plan);
  plain.plan.gpu.unroll = std::clamp(max_scalars_ahead / std::max(1, product.shape.components), 1,
                                     product.plan.gpu.unroll);
  plain.plan.gpu.load = Plan().gpu.load;  // no pieces, so there is nothing for a policy
  return plain;
}

}  // namespace

int warps_of_row(const ProductProgram& product, Index rows) {
  constexpr int warp = 32, max_warps = 8;
  constexpr Index few_rows = 4096;  // one warp per row does not fill a large GPU
  const Layout& layout = product.plan.layout;
  const int warps = product.shape.result_components / product.shape.ring;
  const bool has_long_rows =
      layout.threads_per_row == warp && layout.lanes == warp && layout.threshold == 0;
  const bool are_blocks = product.entry.type.starts_with("heddle::block<");
  return rows <= few_rows && has_long_rows && are_blocks && warps <= max_warps ? warps : 1;
}

KernelSource step_source(const CycleForm& form, int warps) {
  EntryText headers = form.product.entry;
  add_text(form, headers);
  const std::string threads = warps > 1 ? std::to_string(32 * warps) : "Plan::block";
  const std::string text = "#include \"heddle/kernels/cycle.cuh\"\n" + plan_text(form.product) +
                           "extern \"C\" __global__ void __launch_bounds__(" + threads +
                           ")\n"
                           "heddle_step(const __grid_constant__ heddle::device::CycleStep step) {\n"
                           "  heddle::device::cycle_step" +
                           (warps > 1 ? "_of_blocks" : "") + "<Plan, " + rows_type(form) +
                           ">(step);\n}\n";
  return program_over(headers, "step of a cycle over " + form.product.entry.type, text);
}

KernelSource cycle_source(std::span<const CycleForm> forms) {
  EntryText headers;
  std::string plans, cases;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    add_text(forms[i], headers);
    const std::string number = std::to_string(i), name = "form" + number;
    plans.append("namespace ").append(name).append(" {\n");
    plans.append(plan_text(without_schedule(forms[i].product))).append("}\n");
    cases.append("      case ").append(number);
    cases.append(":\n        return heddle::device::step_of_grid<").append(name);
    cases.append("::Plan, ").append(rows_type(forms[i])).append(">(step, meet);\n");
  }
  const std::string text =
      "#include \"heddle/kernels/cycle.cuh\"\n" + plans +
      "struct Forms {\n"
      "  template <class Meet>\n"
      "  static __device__ __forceinline__ void run(const heddle::device::CycleStep& step,\n"
      "                                             const Meet& meet) {\n"
      "    switch (step.form) {\n" +
      cases +
      "    }\n  }\n};\n"
      "extern \"C\" __global__ void __launch_bounds__(heddle::device::threads_of_cycle)\n"
      "heddle_cycle(const __grid_constant__ heddle::device::CycleArguments a) {\n"
      "  heddle::device::cycle<Forms>(a);\n}\n";
  return program_over(headers, "cycle over " + forms.front().product.entry.type, text);
}

}  // namespace heddle::cuda
