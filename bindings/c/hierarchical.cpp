#include "hierarchical.hpp"

#include <optional>
#include <string>
#include <utility>

#include "heddle/edit_batch.hpp"
#include "heddle/hierarchical_matrix.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/runtime/defined_tree.hpp"
#include "patterns.hpp"

namespace heddle::c {

namespace {

/// One kind of edits: a view of the caller's values, and of places that are copied here.
template <class E>
class EditsOfKind {
 public:
  EditsOfKind(const heddle_pattern* given, const heddle_view* values, bool has_values,
              const NamedEntry& entry, const char* kind) {
    if (given == nullptr && values == nullptr) return;
    try {
      const heddle_pattern pattern = checked_pattern(given);
      places_.emplace(pattern);
      view_ = {static_cast<Index>(pattern.rows), static_cast<Index>(pattern.columns),
               static_cast<Offset>(pattern.entries), places_->row.data(), places_->column.data()};
      if (!has_values) return;
      check_count(required(values, "values"), pattern.entries);
      check_values<stored_scalar_t<E>>(*values, entry);
      view_.values = static_cast<const stored_scalar_t<E>*>(values->data);
      if (values->layout == HEDDLE_COLUMN_MAJOR) view_.order = ComponentOrder::column_major;
    } catch (const Error& error) {
      throw Error(error.kind(), std::string("edits.") + kind + ": " + error.what());
    }
  }
  const CooView<E>& view() const { return view_; }

 private:
  std::optional<TripletPlaces> places_;
  CooView<E> view_;
};

template <class E>
OperatorParts parts_of_tree(HierarchicalMatrix<E> made_tree, const NamedEntry& entry,
                            const std::shared_ptr<std::pmr::memory_resource>& memory) {
  const auto tree = std::make_shared<const HierarchicalMatrix<E>>(std::move(made_tree));
  OperatorParts made{memory,
                     {entry.entry, std::shared_ptr<const LinearOperator<vector_scalar_t<E>>>(tree)},
                     entry,
                     std::nullopt};
  made.edited = [tree, entry, memory](const heddle_edits& edits) {
    const EditsOfKind<E> set(edits.set, edits.set_values, true, entry, "set"),
        add(edits.add, edits.add_values, true, entry, "add"),
        remove(edits.remove, nullptr, false, entry, "remove");
    return std::make_shared<OperatorParts>(parts_of_tree<E>(
        tree->edited(EditViews<E>{set.view(), add.view(), remove.view()}), entry, memory));
  };
  return made;
}

}  // namespace

NodeLayout nodes_of(const heddle_matrix& matrix, const StorageSettings& storage,
                    const Device& device) {
  if (storage.node != 0 || !storage.dense.empty() || !storage.launch.empty()) {
    const NodeLayout nodes = storage.nodes();
    if (nodes.launch != TreeLaunch() && !device.on_gpu()) {
      throw Error(ErrorKind::usage, "launch is for products on a GPU, not on a CPU");
    }
    return nodes;
  }
  const Profiles profiles = Profiles::for_device(device);
  return profiles.choose_node(subject_of(matrix.matrix), device, TreeUse::product).nodes;
}

OperatorParts tree_of(const heddle_matrix& given, const NodeLayout& nodes, const Device& device,
                      std::shared_ptr<std::pmr::memory_resource> memory) {
  const AnyMatrix& matrix = given.matrix;
  if (matrix.is_defined()) {
    return matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) {
      const auto tree = std::make_shared<const DefinedTree<S>>(m, nodes, device);
      return OperatorParts{std::move(memory),
                           {matrix.entry(), std::shared_ptr<const LinearOperator<S>>(tree)},
                           given.entry,
                           std::nullopt};
    });
  }
  return matrix.visit([&]<class E>(const CsrMatrix<E>& m) {
    return parts_of_tree<E>(HierarchicalMatrix<E>(m, nodes, device), given.entry, memory);
  });
}

}  // namespace heddle::c
