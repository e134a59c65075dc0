// Operators of heddle.h.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text/names.hpp"
#include "callback_operator.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/multiply.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/plan_choice.hpp"
#include "hierarchical.hpp"
#include "ranks.hpp"
#include "settings_given.hpp"
#include "sized_struct.hpp"
#include "tuning/planning/plan_attempt.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

Plan plan_of(const StorageSettings& storage, const AnyMatrix& matrix, const Device& device) {
  if (!storage.plan.empty()) return parse_plan(storage.plan);
  return choose_plan(matrix, device, Profiles::for_device(device));
}

AnyOperator stored_by(const StorageSettings& storage, const AnyMatrix& matrix,
                      const Device& device) {
  if (!storage.plan.empty()) return {matrix, parse_plan(storage.plan), device};
  PlanChoice choice = Profiles::for_device(device).choose(matrix, device, {});
  std::optional<AnyOperator> stored;
  act_on(
      choice, [&](const Plan& plan) { stored.emplace(matrix, plan, device); },
      [&] { return Profiles().choose(matrix, device, {}); }, [](const std::string&) {});
  return *std::move(stored);
}

/// Throws `Error` (usage) for settings of the other storage.
StorageSettings storage_of(const heddle_settings* settings) {
  const auto storage = options_of<StorageSettings>(settings);
  if (storage.is_hierarchical && !storage.plan.empty()) {
    throw Error(ErrorKind::usage, "a plan is for sliced storage, but the storage is hisparse");
  }
  for (const char* const name : {"node", "launch", "dense"}) {
    if (storage.is_hierarchical || !given_or_none(settings).named.has(name)) continue;
    throw Error(ErrorKind::usage,
                std::string(name) + " is for the storage hisparse, not for sliced storage");
  }
  return storage;
}

heddle_operator* new_operator(const SharedMessages& messages, OperatorParts parts) {
  return new heddle_operator{messages, std::make_shared<OperatorParts>(std::move(parts))};
}

}  // namespace

heddle_status heddle_operator_create(const heddle_matrix* matrix, const heddle_settings* settings,
                                     heddle_operator** result) {
  return guarded_by(matrix, [&] {
    heddle_operator*& out = required(result, "result");
    const StorageSettings storage = storage_of(settings);
    auto memory = memory_of(settings);
    const Device device = device_of(settings, memory.get());
    if (storage.is_hierarchical) {
      out = new_operator(matrix->messages, tree_of(*matrix, nodes_of(*matrix, storage, device),
                                                   device, std::move(memory)));
      return;
    }
    AnyOperator stored = stored_by(storage, matrix->matrix, device);
    const AnyLinearOperator any(stored);
    out =
        new_operator(matrix->messages, {std::move(memory), any, matrix->entry, std::move(stored)});
  });
}

heddle_status heddle_matrix_memory(const heddle_matrix* matrix, const heddle_settings* settings,
                                   int64_t* product, int64_t* total) {
  return guarded_by(matrix, [&] {
    const StorageSettings storage = storage_of(settings);
    const Device device = device_of(settings);
    const AnyMatrix& m = matrix->matrix;
    const auto tell = [&](const auto& memory) {
      if (product != nullptr) *product = memory.product();
      if (total != nullptr) *total = memory.total();
    };
    if (storage.is_hierarchical) {
      const NodeLayout nodes = nodes_of(*matrix, storage, device);
      tell(hierarchical_memory(m.pattern(), nodes, m.entry_bytes(), device));
      return;
    }
    const Plan plan = plan_of(storage, m, device);
    const EntryBytes bytes = std::visit([&](const auto& entry) { return entry->bytes(plan); },
                                        detail::entry_table_of(m));
    tell(memory_use(m.pattern(), plan, bytes, device));
  });
}

heddle_status heddle_operator_from_callback(heddle_context* context, int64_t rows,
                                            heddle_entry entry, heddle_precision precision,
                                            heddle_apply apply, void* user,
                                            heddle_operator** result) {
  return heddle_operator_from_callback_on(context, nullptr, rows, entry, precision, apply, user,
                                          result);
}

heddle_status heddle_operator_from_callback_on(heddle_context* context,
                                               const heddle_settings* settings, int64_t rows,
                                               heddle_entry entry, heddle_precision precision,
                                               heddle_apply apply, void* user,
                                               heddle_operator** result) {
  return heddle_operator_from_callbacks(context, settings, rows, rows, entry, precision, apply,
                                        nullptr, user, result);
}

heddle_status heddle_operator_from_callbacks(heddle_context* context,
                                             const heddle_settings* settings, int64_t rows,
                                             int64_t columns, heddle_entry entry,
                                             heddle_precision precision, heddle_apply apply,
                                             heddle_apply apply_adjoint, void* user,
                                             heddle_operator** result) {
  return guarded_by(context, [&] {
    heddle_operator*& out = required(result, "result");
    if (apply == nullptr) throw Error(ErrorKind::usage, "apply is a null pointer");
    const auto storage = options_of<StorageSettings>(settings);
    if (!storage.plan.empty() || storage.is_hierarchical) {
      throw Error(ErrorKind::usage, std::string(storage.plan.empty() ? "a storage" : "a plan") +
                                        " is for a stored matrix, and a callback has none");
    }
    auto memory = memory_of(settings);
    const Device device = device_of(settings, memory.get());
    const Callback callback{apply, user, context->definitions.find(entry), "operator",
                            location_on(device)};
    Callback adjoint = callback;
    adjoint.function = apply_adjoint;
    const Index height = checked_index(rows), width = checked_index(columns);
    const auto make = [&]<class S>() -> AnyLinearOperator::Matrix {
      return std::make_shared<const CallbackOperator<S>>(height, width, device, callback, adjoint);
    };
    const bool single = precision_of(precision) == Precision::single_precision;
    const AnyLinearOperator any(callback.entry.entry, single ? make.template operator()<float>()
                                                             : make.template operator()<double>());
    out = new_operator(context->messages, {std::move(memory), any, callback.entry, std::nullopt});
  });
}

heddle_status heddle_operator_adjoint(const heddle_operator* A, heddle_operator** adjoint) {
  return guarded_by(A, [&] {
    heddle_operator*& out = required(adjoint, "adjoint");
    const AnyLinearOperator any(A->parts->matrix.entry(),
                                A->parts->matrix.visit([](const auto& matrix) {
                                  return AnyLinearOperator::Matrix(matrix->adjoint());
                                }));
    OperatorParts made{A->parts->memory, any, A->parts->entry, std::nullopt, A->parts};
    made.shift = A->parts->shift;  // the real shift
    out = new_operator(A->messages, std::move(made));
  });
}

heddle_status heddle_operator_shifted(const heddle_operator* A, double sigma,
                                      heddle_operator** shifted) {
  return guarded_by(A, [&] {
    heddle_operator*& out = required(shifted, "shifted");
    const AnyLinearOperator any(
        A->parts->matrix.entry(),
        A->parts->matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix)
                                   -> AnyLinearOperator::Matrix {
          return std::make_shared<const ShiftedOperator<S>>(OperatorReference<S>(matrix),
                                                            static_cast<S>(sigma));
        }));
    OperatorParts made{A->parts->memory, any, A->parts->entry, std::nullopt, A->parts};
    made.shift = A->parts->shift + sigma;
    made.ranks = A->parts->ranks;
    out = new_operator(A->messages, std::move(made));
  });
}

void heddle_operator_destroy(heddle_operator** A) { destroy(A); }

heddle_status heddle_operator_update_values(heddle_operator* A, const heddle_view* given) {
  return guarded_by(A, [&] {
    const heddle_view& values = required(given, "values");
    if (A->parts->update) return on_all_ranks(*A->parts, [&] { A->parts->update(values); });
    if (!A->parts->stored) {
      throw Error(
          ErrorKind::unsupported,
          "this operator stores no values: it is a tree, a callback, an adjoint or a shifted one");
    }
    A->parts->stored->visit([&]<class S>(const detail::SlicedOperator<S>& matrix) {
      check_view<S>(values, A->parts->entry, "values");
      if (values.layout != HEDDLE_ROW_MAJOR && values.layout != HEDDLE_COLUMN_MAJOR) {
        throw Error(ErrorKind::usage,
                    "values.layout: a matrix needs HEDDLE_ROW_MAJOR or HEDDLE_COLUMN_MAJOR");
      }
      check_location(values, matrix.device().stream(), "values");
      const auto bytes = static_cast<std::size_t>(matrix.entry().sizes.components) * sizeof(S);
      if (values.count < 0) throw Error(ErrorKind::size_mismatch, "values.count is negative");
      detail::SlicedOperator<S> handle = matrix;
      handle.update_values({static_cast<const std::byte*>(values.data),
                            static_cast<std::size_t>(values.count) * bytes},
                           values.layout == HEDDLE_ROW_MAJOR ? row_major : column_major);
      // When this returns, the caller may free its array in the host's memory.
      if (values.location == HEDDLE_HOST) handle.device().synchronize();
    });
  });
}

heddle_status heddle_operator_edited(const heddle_operator* A, const heddle_edits* given,
                                     heddle_operator** edited) {
  return guarded_by(A, [&] {
    heddle_operator*& out = required(edited, "edited");
    const auto edits = read_struct(&required(given, "edits"), heddle_edits{}, "heddle_edits");
    if (!A->parts->edited) {
      throw Error(ErrorKind::unsupported,
                  "this operator takes no edits: only trees of built-in entries do");
    }
    out = new heddle_operator{A->messages, A->parts->edited(edits)};
  });
}

heddle_status heddle_operator_apply(const heddle_operator* A, const heddle_view* x,
                                    const heddle_view* y) {
  return guarded_by(A, [&] {
    const OperatorParts& parts = *A->parts;
    const auto apply = [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      const Device& device = matrix->device();
      multiply<S>(
          *matrix,
          field_of<const S>(x, parts.entry, matrix->column_components(), device.stream(), "x"),
          field_of<S>(y, parts.entry, matrix->row_components(), device.stream(), "y"));
      device.synchronize();
    };
    on_all_ranks(parts, [&] { parts.matrix.visit(apply); });
  });
}

heddle_status heddle_operator_size(const heddle_operator* A, int64_t* rows, int64_t* columns) {
  return guarded_by(A, [&] {
    std::int64_t &height = required(rows, "rows"), &width = required(columns, "columns");
    height = A->parts->matrix.rows();
    width = A->parts->matrix.columns();
  });
}

size_t heddle_operator_plan(const heddle_operator* A, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded_by(A, [&] {
    const auto& stored = A->parts->stored;
    length = copy_text(stored ? to_string(stored->plan()) : "", buffer, capacity);
  });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}
