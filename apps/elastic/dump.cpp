#include "dump.hpp"

#include <algorithm>

#include "heddle/matrix_market.hpp"
#include "heddle/npz.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle::elastic {

namespace {

std::vector<double> values_in_order(const Operator<Block>& matrix) {
  constexpr int K = Block::components;
  const SlicedPattern& pattern = matrix.pattern();
  const auto stored = matrix.values_in_basis();
  std::vector<double> in_slots(stored.size());
  constexpr Offset at_once = Offset(1) << 30;  // slots; fields count them in 32 bits
  for (Offset first = 0; first < pattern.slots; first += at_once) {
    const auto count = static_cast<Index>(std::min(at_once, pattern.slots - first));
    copy<double>({stored.data() + first * K, count, K}, {in_slots.data() + first * K, count, K},
                 matrix.device().stream());
  }
  const std::vector<Offset> slot = slots_of_entries(pattern).to_host();
  const EntryWriter<Block> entries(pattern, matrix.plan().layout.inner, in_slots.data());
  std::vector<double> values(slot.size() * K);
  for (std::size_t i = 0; i < slot.size(); ++i) {
    std::copy_n(entries.load(slot[i]).component, K, values.data() + i * K);
  }
  return values;
}

}  // namespace

std::string dumped_matrix(const std::string& prefix) { return prefix + ".npz"; }
std::string dumped_right_hand_side(const std::string& prefix) { return prefix + "-rhs.mtx"; }

void dump_system(const std::string& prefix, const ElementPattern& pattern,
                 const ElasticSystem& system, const VertexField& right_hand_side) {
  const std::vector<double> values = values_in_order(system.matrix());
  write_npz(dumped_matrix(prefix), {pattern.view(), 3, 3, false, values.data()});
  std::vector<double> b(3 * static_cast<std::size_t>(system.vertices()));
  permute<double>(right_hand_side.view(), {b.data(), system.vertices(), 3}, 1,
                  system.device().stream());
  write_scalar_field(dumped_right_hand_side(prefix), {system.vertices(), 3, false, b.data()});
}

}  // namespace heddle::elastic
