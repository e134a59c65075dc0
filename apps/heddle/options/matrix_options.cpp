#include "matrix_options.hpp"

#include <string>
#include <variant>

#include "any_case.hpp"
#include "heddle/error.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/random_field.hpp"
#include "heddle/tools/team.hpp"
#include "io/read_numbers.hpp"

namespace heddle::cli {

void MatrixOptions::add_to(CLI::App& command) {
  command.add_option("matrix", path, "Matrix Market (.mtx, .mtx.gz) or SciPy .npz file")
      ->required()
      ->type_name("FILE");
  add_settings_to(command);
}

void MatrixOptions::add_settings_to(CLI::App& command) {
  CLI::Option* const kind = command.add_option(
      "--entry", entry,
      "entry that the file's numbers are folded into: real, complex, quaternion, dual-quaternion, "
      "block2, block3, block4, block6, complex-block3");
  kind->default_str("real, or complex if the file's numbers are")
      ->transform(any_case())
      ->type_name("KIND");
  command
      .add_option(
          "--entry-definition", entry_definition,
          "an entry of your own instead, from a JSON file; see docs/inside/adding-an-entry.md")
      ->type_name("FILE")
      ->excludes(kind);
  command.add_option("--precision", precision, "double or single")
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("P");
  processor.add_to(command);
  command.add_flag("-q,--quiet", quiet, "no progress, and no report except --json");
}

void MatrixOptions::add_inputs(RunFiles& files) const {
  files.reads("the command", path);
  files.reads("--entry-definition", entry_definition);
}

AnyEntry MatrixOptions::chosen_entry() const {
  if (!names_entry()) return EntryKind::real;
  if (entry_definition.empty()) return parse_entry_kind(entry);
  return std::make_shared<const EntryDefinition>(read_entry_definition(entry_definition));
}

AnyMatrix MatrixOptions::read(const std::string& from, Progress* progress) const {
  const Device device = Device::cpu(processor.threads);
  if (!names_entry()) return read_numbers(from, scalar(), device, progress);
  return AnyMatrix::read(from, chosen_entry(), scalar(), device, progress);
}

std::unique_ptr<TerminalProgress> MatrixOptions::progress() const {
  return quiet ? nullptr : std::make_unique<TerminalProgress>();
}

void add_plan_option(CLI::App& command, std::string& plan) {
  command
      .add_option("--plan", plan,
                  "layout and schedule: a paper's name (CSR, ELL, Sl-32, pJDS, K1rs, K2rs, ...), "
                  "key=value,..., or both; default: chosen automatically; chosen,schedule=dynamic "
                  "changes that; full reports all its keys")
      ->type_name("TEXT");
}

void check_adjoint(const AnyMatrix& matrix) {
  if (matrix.is_defined()) return;
  const bool has_adjoint = std::visit([](const auto& entry) { return entry->adjoint != nullptr; },
                                      detail::entry_table_of(matrix));
  if (has_adjoint) return;
  throw Error(ErrorKind::unsupported,
              "no adjoint: entry " + std::string(matrix.entry().name()) + " has none of its kind");
}

void fill_random(AnyField& field, std::uint64_t seed) {
  const Offset scalars = Offset(field.rows()) * field.components();
  parallel_for(default_threads(), scalars, [&](Offset i) {
    field.set(i, random_component(seed, static_cast<std::uint64_t>(i)));
  });
}

}  // namespace heddle::cli
