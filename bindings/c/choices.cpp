// Choices of heddle.h: the suitable preconditioner and method for a matrix, and advice on it.
#include <algorithm>
#include <string>

#include "base/text/names.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/method_info.hpp"
#include "heddle/report.hpp"
#include "tuning/planning/hidden_tiles.hpp"
#include "tuning/planning/method_choice.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// Throws `Error` (size_mismatch) unless there are methods for the matrix, and `A`, which may be
/// null, is an operator of it.
void check_system(const heddle_matrix& matrix, const heddle_operator* A) {
  if (matrix.matrix.rows() != matrix.matrix.columns()) {
    throw Error(ErrorKind::size_mismatch,
                "methods for A x = b need a square matrix, but this one has " +
                    std::to_string(matrix.matrix.rows()) + " rows and " +
                    std::to_string(matrix.matrix.columns()) + " columns: lsmr takes any shape");
  }
  if (A != nullptr && (A->parts->matrix.rows() != matrix.matrix.rows() ||
                       A->parts->matrix.columns() != matrix.matrix.columns() ||
                       A->parts->entry.number != matrix.entry.number)) {
    throw Error(ErrorKind::size_mismatch, "the operator does not fit the matrix");
  }
}

ChosenPreconditioner chosen_for(const heddle_matrix& matrix, const heddle_operator* A,
                                const ComposedChoice& named) {
  return choose_preconditioner(named, matrix.matrix, A != nullptr ? A->parts->shift : 0,
                               Device::cpu());
}

}  // namespace

heddle_status heddle_choose_preconditioner(const heddle_matrix* matrix, const heddle_operator* A,
                                           const char** preconditioner, char* reason,
                                           size_t capacity) {
  return guarded_by(matrix, [&] {
    const char*& out = required(preconditioner, "preconditioner");
    check_system(*matrix, A);
    const ChosenPreconditioner chosen = chosen_for(*matrix, A, PreconditionerKind::automatic);
    out = chosen.choice.has(PreconditionerKind::none) ? "none" : "jacobi";
    copy_text(chosen.reason, reason, capacity);
  });
}

size_t heddle_matrix_advice(const heddle_matrix* matrix, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded_by(matrix, [&] {
    const auto tiles = hidden_tiles(matrix->matrix);
    length = copy_text(tiles ? advice_on(*tiles) : "", buffer, capacity);
  });
  if (length == 0) copy_text("", buffer, capacity);
  return length;
}

heddle_status heddle_choose_method(const heddle_matrix* matrix, const heddle_operator* A,
                                   const char* preconditioner, const char** method) {
  return guarded_by(matrix, [&] {
    const char*& out = required(method, "method");
    check_system(*matrix, A);
    const ComposedChoice choice =
        chosen_for(*matrix, A,
                   ComposedChoice::parse(preconditioner == nullptr ? "none" : preconditioner))
            .choice;
    MethodChoice chosen = choose_method("auto", matrix->matrix, choice, Device::cpu());
    if (A == nullptr) {
      chosen.looks_at_diagonal(matrix->matrix, choice, 0);
    } else {
      const OperatorParts* stored = A->parts.get();
      while (stored->made_of != nullptr) stored = stored->made_of.get();
      chosen.looks_ahead(matrix->matrix, stored->matrix, choice, A->parts->shift);
    }
    out = chosen.method->name.data();
  });
}

heddle_status heddle_choose_other_method(heddle_context* context, const char* method,
                                         heddle_outcome outcome, int64_t iterations,
                                         const char** other, char* reason, size_t capacity) {
  return guarded_by(context, [&] {
    const char*& out = required(other, "other");
    const std::string name = &required(method, "method");
    if (heddle_outcome_name(outcome) == nullptr) {
      throw Error(ErrorKind::usage,
                  "there is no outcome " + std::to_string(static_cast<long long>(outcome)));
    }
    out = nullptr;
    copy_text("", reason, capacity);
    check_method(name);
    const auto table = method_table();
    const auto row = std::find_if(table.begin(), table.end(), [&](const MethodInfo& known) {
      return is_same_name(known.name, name);
    });
    if (row == table.end()) return;  // auto, or a method without a listing
    MethodChoice choice{&*row, "", true};
    Report report;
    report.status = static_cast<Status>(outcome);
    report.iterations = iterations;
    if (!choice.gives_way(report)) return;
    out = choice.method->name.data();
    copy_text(choice.reason, reason, capacity);
  });
}
