#include "placement.hpp"

#include "options/matrix_options.hpp"

namespace heddle::cli {

void Placement::keep_own(std::vector<AnyField>& fields) const {
  for (AnyField& field : fields) {
    if (auto part = part_of(field)) field = std::move(*part);
  }
}

std::vector<AnyField> Placement::read_guess(const std::string& path, int count) const {
  FieldsOfFile read = read_fields("--guess", path, rows_of_all(true), count, device(), progress());
  keep_own(read.fields);
  return std::move(read.fields);
}

RightHandSide Placement::right_hand_side(const RightHandSideWanted& wanted) const {
  if (!wanted.rhs.empty() && wanted.rhs != "ones") {
    RightHandSide read =
        right_hand_side_of_file(wanted.rhs, wanted.count, rows_of_all(false), device(), progress());
    keep_own(read.b);
    return read;
  }
  RightHandSide made{{}, {}, wanted.rhs, 0};
  const int count = wanted.count.value_or(1);
  const FieldsWanted all = rows_of_all(true);
  const AnyLinearOperator& A = *matrix_;
  const int components = A.visit([](const auto& matrix) { return matrix->column_components(); });
  for (int k = 0; k < count; ++k) {
    AnyField& b = made.b.emplace_back(A.row_field());
    if (!wanted.rhs.empty()) {
      fill_ones(b, all.entry);
      continue;
    }
    AnyField& exact = made.exact.emplace_back(all.rows, components, all.precision, device());
    fill_random(exact, wanted.seed + static_cast<std::uint64_t>(k));
    const std::optional<AnyField> own = part_of(exact);
    const AnyField& part = own ? *own : exact;
    A.apply(part, b);
    const Offset scalars = Offset(b.rows()) * b.components();
    for (Offset i = 0; wanted.shift != 0 && i < scalars; ++i) {
      b.set(i, b.get(i) + wanted.shift * part.get(i));
    }
  }
  if (wanted.rhs.empty()) made.text = random_system_in_words(wanted.shift, wanted.seed, count);
  return made;
}

void OneProcess::store_tree(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts) {
  nodes_ = storage_.choose(matrix, device_, profile_, use);
  StoredTree tree = storage_.store_as_tree(matrix, nodes_, device_);
  facts.tree = storage_.text_of(nodes_);
  facts.choice.reason = storage_.reason_of(nodes_);
  matrix_.emplace(std::move(tree.matrix));
  tree_memory_ = std::move(tree.memory);
}

void OneProcess::store(const AnyMatrix& matrix, TreeUse use, StorageFacts& facts,
                       const std::function<void()>& act) {
  if (storage_.is_hierarchical()) {
    store_tree(matrix, use, facts);
    return act();
  }
  profile_.build(
      facts.choice,
      [&](const Plan& plan) {
        matrix_.reset();
        const AnyOperator sliced(matrix, plan, device_);
        facts.memory = sliced.memory();
        matrix_.emplace(sliced);
        act();
      },
      predict_);
}

AnyLinearOperator OneProcess::store_mass(const AnyMatrix& mass) {
  if (storage_.is_hierarchical()) {
    StoredTree tree = storage_.store_as_tree(mass, nodes_, device_);
    mass_tree_memory_ = std::move(tree.memory);
    return std::move(tree.matrix);
  }
  const AnyOperator sliced(mass, matrix_->sliced().value());
  mass_memory_ = sliced.memory().total();
  return sliced;
}

long long OneProcess::mass_memory() const {
  return mass_tree_memory_ ? mass_tree_memory_().total() : mass_memory_;
}

void OneProcess::tell(StorageFacts& facts) const {
  if (tree_memory_) facts.tree_memory = tree_memory_();
}

FieldsWanted OneProcess::rows_of_all(bool are_of_columns) const {
  return are_of_columns ? columns_of(*matrix_) : rows_of(*matrix_);
}

}  // namespace heddle::cli
