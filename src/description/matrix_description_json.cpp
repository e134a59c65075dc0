// A description as JSON.
#include <nlohmann/json.hpp>

#include "matrix_description.hpp"

namespace heddle::detail {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const NodeCounts& nodes) {
  return {{"dense", nodes.of_kind[0]}, {"coo1", nodes.of_kind[1]}, {"coo2", nodes.of_kind[2]},
          {"coo4", nodes.of_kind[3]},  {"items", nodes.items},     {"bytes", nodes.bytes}};
}

Json to_json(const TreeMemory& tree) {
  const HierarchicalMemory& memory = tree.memory;
  return {{"node", tree.nodes.size},
          {"dense", name_of_dense(tree.nodes)},
          {"leaves", to_json(memory.leaves)},
          {"inner_nodes", to_json(memory.inner)},
          {"nodes", memory.leaves.nodes() + memory.inner.nodes()},
          {"paper_bound_of_nodes", tree.bound.paper},
          {"bound_of_nodes", tree.bound.of_entries},
          {"schedule_bytes", memory.schedule},
          {"adjoint_schedule_bytes", memory.adjoint_schedule},
          {"paper_formula_bytes", tree.paper_formula},
          {"bytes_per_entry",
           {{"tree", tree.of(memory.tree())},
            {"with_schedule", tree.of(memory.tree() + memory.schedule)},
            {"with_both_schedules", tree.of(memory.total())},
            {"csr", tree.csr()},
            {"coo", tree.coo()}}}};
}

Json to_json(const std::vector<ExactCopy>& copies) {
  Json json = Json::array();
  for (const ExactCopy& copy : copies) {
    Json one = {{"iteration_precision", copy.precision}, {"fits", copy.why_not.empty()}};
    if (copy.why_not.empty()) {
      one["bytes_an_entry"] = copy.bytes;
      one["in_full"] = copy.full;
    } else {
      one["why_not"] = copy.why_not;
    }
    json.push_back(std::move(one));
  }
  return json;
}

Json to_json(const CodeBalance& balance) {
  return {{"entry_bytes", balance.entry_bytes},
          {"x_bytes", balance.x_bytes},
          {"y_bytes", balance.y_bytes},
          {"flops", balance.flops},
          {"cache", balance.cache},
          {"alpha", balance.alpha},
          {"least_alpha", balance.least_alpha},
          {"bytes_per_flop", balance.bytes_per_flop},
          {"worst_bytes_per_flop", balance.worst_bytes_per_flop},
          {"product_seconds", balance.product_seconds},
          {"transfer_seconds", balance.transfer_seconds},
          {"favours_host_up_to", balance.favours_host_up_to},
          {"hides_transfer_from", balance.hides_transfer_from}};
}

Json to_json(const MultigridAdvice& advice) {
  if (!advice.why_not.empty()) return {{"advised", false}, {"why_not", advice.why_not}};
  return {
      {"advised", advice.is_advised},
      {"tolerance", advice.tolerance},
      {"iterations", advice.iterations},
      {"factor", advice.factor},
      {"iterations_of_jacobi", advice.iterations_of_jacobi},
      {"most_of_jacobi", advice.most_of_jacobi},
      {"jacobi_iterations", advice.jacobi_iterations ? Json(*advice.jacobi_iterations) : Json()}};
}

Json to_json(const Scaling& scaling) {
  Json json = {{"network", scaling.network.name},
               {"latency", scaling.network.latency},
               {"bandwidth", scaling.network.bandwidth},
               {"rates", scaling.rates.name},
               {"partition", scaling.partition},
               {"unknowns", scaling.unknowns},
               {"product_alone", scaling.product_alone},
               {"iteration_alone", scaling.alone},
               {"best_ranks", scaling.best},
               {"points", Json::array()}};
  if (!scaling.weak.points.empty()) json["halo_exponent"] = scaling.weak.exponent;
  for (const ScalingPoint& point : scaling.points) {
    Json of_point = {{"ranks", point.ranks},
                     {"rows", point.worst.rows},
                     {"interior_rows", point.worst.interior_rows},
                     {"halo", point.worst.received},
                     {"neighbours", point.worst.senders},
                     {"exchange", point.exchange},
                     {"sums", point.sums},
                     {"product_vector", point.product_vector},
                     {"product_task", point.product_task},
                     {"split_naive", point.split_naive},
                     {"split_task", point.split_task},
                     {"iteration_vector", point.iteration_vector},
                     {"iteration_task", point.iteration_task}};
    if (const auto* weak = scaling.weak_point(point.ranks)) {
      of_point["weak_iteration_task"] = weak->iteration_task;
    }
    json["points"].push_back(of_point);
  }
  return json;
}

}  // namespace

Json to_json(const MatrixDescription& description) {
  const Features& f = description.features;
  Json json;
  json["entry"] = description.entry.name();
  json["precision"] = name(description.precision);
  json["rows"] = f.rows;
  json["columns"] = f.columns;
  json["entries"] = f.entries;
  json["row_length"] = {{"shortest", f.shortest_row},
                        {"mean", f.mean_row},
                        {"deviation", f.deviation_of_rows},
                        {"longest", f.longest_row},
                        {"empty_rows", f.empty_rows}};
  json["bandwidth"] = f.bandwidth;
  json["mean_distance"] = f.mean_distance;
  if (f.square) {
    json["symmetric_pattern"] = f.symmetric_pattern;
    json["hermitian_defect"] =
        f.symmetric_pattern && f.has_adjoint ? Json(f.hermitian_defect) : Json();
    json["missing_diagonal"] = f.missing_diagonal;
    json["singular_diagonal"] = f.singular_diagonal;
  }
  const SolveAdvice& solve = description.solve;
  if (!solve.solver.empty()) {
    json["solver"] = solve.solver;
    json["solver_reason"] = solve.solver_reason;
    json["preconditioner"] = solve.preconditioner;
    json["preconditioner_reason"] = solve.preconditioner_reason;
  }
  json["advice"] = solve.text;
  for (const LayoutMemory& layout : description.layouts) {
    json["layouts"].push_back(
        {{"plan", layout.plan}, {"bytes", layout.use.product()}, {"of_csr", layout.of_csr}});
  }
  if (const JaggedStorage& jagged = description.jagged; jagged.slice_bytes > 0) {
    json["pjds"] = {{"saved_of_ell", jagged.saved},
                    {"padding", jagged.padding},
                    {"slice_bytes", jagged.slice_bytes},
                    {"column_start_bytes", jagged.column_starts}};
  }
  const ShortColumns& columns = description.short_columns;
  json["short_columns"] = {{"plan", std::string(ShortColumns::layout) + ",column-bits=16"},
                           {"share_of_slots", columns.share},
                           {"bytes_an_entry", columns.mixed},
                           {"with_32_bits", columns.wide}};
  json["exact_copies"] = to_json(description.copies);
  json["hisparse"] = to_json(description.tree);
  json["code_balance"] = to_json(description.balance);
  if (description.multigrid) json["multigrid"] = to_json(*description.multigrid);
  if (description.scaling) json["scaling"] = to_json(*description.scaling);
  return json;
}

}  // namespace heddle::detail
