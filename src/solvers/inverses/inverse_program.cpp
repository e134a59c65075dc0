#include "inverse_program.hpp"

#include <sstream>

#include "heddle/detail/sliced.hpp"

namespace heddle::cuda {

namespace {

const char* truth(bool value) { return value ? "true" : "false"; }

void write_layout(std::ostringstream& text, const char* name, const StoredMatrix& matrix,
                  int components) {
  const Layout& layout = matrix.layout;
  const bool is_one_slice = layout.lanes == Layout::all_rows && matrix.lanes != 1;
  text << "  struct " << name
       << " {\n    using scalar = " << (matrix.stored_bytes == sizeof(float) ? "float" : "double")
       << ";\n    static constexpr int components = " << components
       << ", lanes = " << (is_one_slice ? 0 : matrix.lanes)
       << ", threads = " << (layout.threshold != 0 ? 0 : layout.threads_per_row)
       << ", piece = " << components_of_piece(layout.inner, components, matrix.stored_bytes)
       << ";\n    static constexpr bool planes = " << truth(layout.inner == InnerLayout::soa)
       << ";\n  };\n";
}

/// `int name(int i)`: one member of each place.
template <class Member>
void write_table(std::ostringstream& text, const char* name,
                 const std::vector<detail::SignedPlace>& places, Member member) {
  text << "  HEDDLE_INLINE static int " << name << "(int i) {\n    constexpr int table[] = {";
  for (const detail::SignedPlace& place : places) text << place.*member << ", ";
  text << "};\n    return table[i];\n  }\n";
}

/// True if number t of a tile is component t.
bool is_plain(const detail::EntryTiles& tiles) {
  if (tiles.component_of.size() != tiles.number_of.size()) return false;
  for (std::size_t t = 0; t < tiles.component_of.size(); ++t) {
    if (tiles.component_of[t].at != static_cast<int>(t) || tiles.component_of[t].sign != 1) {
      return false;
    }
  }
  return true;
}

void write_tile(std::ostringstream& text, const detail::EntryTiles& tiles) {
  const char* const ring = tiles.ring == 1 ? "real" : tiles.ring == 2 ? "complex" : "quaternion";
  text << "  static constexpr int size = " << tiles.size
       << ";\n  static constexpr heddle::Ring ring = heddle::Ring::" << ring
       << ";\n  static constexpr bool is_plain = " << truth(is_plain(tiles)) << ";\n";
  if (is_plain(tiles)) {
    text << "  HEDDLE_INLINE static int component_of(int t) { return t; }\n"
            "  HEDDLE_INLINE static int number_of(int k) { return k; }\n"
            "  HEDDLE_INLINE static int sign_of(int) { return 1; }\n"
            "  HEDDLE_INLINE static int sign_of_component(int) { return 1; }\n";
    return;
  }
  write_table(text, "component_of", tiles.component_of, &detail::SignedPlace::at);
  write_table(text, "sign_of", tiles.component_of, &detail::SignedPlace::sign);
  write_table(text, "number_of", tiles.number_of, &detail::SignedPlace::at);
  write_table(text, "sign_of_component", tiles.number_of, &detail::SignedPlace::sign);
}

}  // namespace

KernelSource inverse_source(const InverseProgram& program, const InverseTeam& team) {
  const int K = program.tiles.components();
  const int block = team.lanes <= 32 ? threads_of_teams : threads_of_long_row;
  std::ostringstream text;
  text << "#include \"heddle/kernels/local_inverse.cuh\"\nstruct Plan {\n";
  write_layout(text, "From", program.matrix, K);
  write_layout(text, "To", program.inverse, K);
  constexpr const char* parts[] = {"factor_row", "row", "block"};
  constexpr const char* names[] = {"FSAI", "ISAI", "block Jacobi"};
  const auto part = static_cast<std::size_t>(program.part);
  text << "  static constexpr auto part = heddle::device::InversePart::" << parts[part] << ";\n";
  write_tile(text, program.tiles);
  text << "};\nextern \"C\" __global__ void __launch_bounds__(" << block
       << ")\nheddle_invert_rows(const __grid_constant__ heddle::device::InverseArguments<\n"
          "    Plan::From::scalar, Plan::To::scalar> a) {\n"
          "  heddle::device::invert_rows<Plan, "
       << (team.lanes <= 32 ? team.lanes : block) << ", " << block << ", " << truth(team.in_shared)
       << ">(a);\n}\n";
  KernelSource source;
  source.name = std::string(names[part]) + " of tiles of " + std::to_string(program.tiles.size) +
                " x " + std::to_string(program.tiles.size) + " numbers of " +
                std::to_string(program.tiles.ring);
  source.text = text.str();
  return source;
}

}  // namespace heddle::cuda
