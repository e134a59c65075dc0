// Preconditioners of heddle.h, by name and by callback.
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "callback_operator.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "ranks.hpp"
#include "sized_struct.hpp"
#include "solvers/any_preconditioner.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_multigrid_options default_multigrid_options{
    sizeof(heddle_multigrid_options), MultigridOptions{}.strength, nullptr, 0, nullptr, 0};
constexpr std::int64_t most_candidates = 6;

/// The parts of an operator from which preconditioners by name are made.
template <class S>
SharedPreconditioner<S> preconditioner_by_name(const OperatorParts& parts,
                                               std::shared_ptr<const LinearOperator<S>> matrix,
                                               const ComposedChoice& choice) {
  const NeededEntries needed = needed_entries(choice);
  const bool reads_tree = parts.entries && needed != NeededEntries::none;
  if (!parts.stored && !reads_tree) {
    return make_preconditioner_of_products<S>(std::move(matrix), choice);
  }
  const AnyOperator entries = reads_tree ? parts.entries(needed) : *parts.stored;
  return entries.visit(
      [&]<class T>(const detail::SlicedOperator<T>& sliced) -> SharedPreconditioner<S> {
        if constexpr (std::is_same_v<S, T>) {
          if (!reads_tree) return make_preconditioner<S>(sliced, choice);
          return make_preconditioner<S>(MatrixInParts<S>(std::move(matrix), sliced), choice);
        } else {
          throw Error(ErrorKind::internal, "an operator of two precisions");
        }
      });
}

/// The points of the rows, two or three numbers each.
std::shared_ptr<const std::vector<std::array<double, 3>>> points_of(const OperatorParts& parts,
                                                                    const double* coordinates) {
  const heddle_entry entry = parts.entry.number;
  if (entry != HEDDLE_BLOCK2 && entry != HEDDLE_BLOCK3) {
    throw Error(ErrorKind::usage, "coordinates are of rows of block2 or block3 entries, not of " +
                                      std::string(parts.entry.entry.name()));
  }
  const std::size_t dimension = entry == HEDDLE_BLOCK2 ? 2 : 3;
  std::vector<std::array<double, 3>> points(
      static_cast<std::size_t>(parts.rows_of_all.value_or(parts.matrix.rows())));
  for (std::array<double, 3>& point : points) {
    for (std::size_t c = 0; c < dimension; ++c) point[c] = *coordinates++;
  }
  return std::make_shared<const std::vector<std::array<double, 3>>>(std::move(points));
}

std::shared_ptr<const std::vector<std::vector<double>>> candidates_of(
    const OperatorParts& parts, const heddle_multigrid_options& options) {
  const heddle_view& first = required(options.candidates, "candidates");
  std::vector<std::vector<double>> fields;
  parts.matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
    const std::int64_t rows = parts.rows_of_all.value_or(matrix->rows());
    for (std::int64_t k = 0; k < options.candidate_count; ++k) {
      const std::string name = "candidates[" + std::to_string(k) + "]";
      const auto field =
          field_of<const S>(&first + k, parts.entry, matrix->row_components(), {}, name.c_str());
      if (field.size != rows) {
        throw Error(ErrorKind::size_mismatch, name + " has " + std::to_string(field.size) +
                                                  " rows, and the matrix " + std::to_string(rows));
      }
      auto& numbers = fields.emplace_back();
      for (Index i = 0; i < field.size; ++i) {
        for (int c = 0; c < field.components; ++c) numbers.push_back(double(field.at(i, c)));
      }
    }
  });
  return std::make_shared<const std::vector<std::vector<double>>>(std::move(fields));
}

MultigridChoice told(MultigridChoice choice, const OperatorParts& parts,
                     const heddle_multigrid_options& options) {
  if (!(options.strength >= 0 && options.strength < 1)) {
    throw Error(ErrorKind::usage, "the strength is at least 0 and below 1");
  }
  if (options.candidate_count < 0 || options.candidate_count > most_candidates) {
    throw Error(ErrorKind::usage,
                "there are 0 to " + std::to_string(most_candidates) + " candidates");
  }
  if ((options.coordinates != nullptr) + (options.candidate_count > 0) + (options.adaptive != 0) >
      1) {
    throw Error(ErrorKind::usage,
                "coordinates are where candidates come from, as is the search that is adaptive: "
                "give one of them, or candidates");
  }
  choice.strength = options.strength;
  choice.is_adaptive = options.adaptive != 0;
  if (options.coordinates != nullptr) choice.points = points_of(parts, options.coordinates);
  if (options.candidate_count > 0) choice.candidates = candidates_of(parts, options);
  return choice;
}

heddle_preconditioner* named_preconditioner(const heddle_operator* A,
                                            const ComposedChoice& choice) {
  const OperatorParts& parts = *A->parts;
  PreconditionerParts made;
  const auto make = [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
    made.made = preconditioner_by_name<S>(parts, matrix, choice);
  };
  on_all_ranks(parts, [&] { parts.matrix.visit(make); });
  return new heddle_preconditioner{A->messages, A->parts, std::move(made)};
}

}  // namespace

heddle_status heddle_preconditioner_create(const heddle_operator* A, const char* text,
                                           heddle_preconditioner** result) {
  return guarded_by(A, [&] {
    heddle_preconditioner*& out = required(result, "result");
    out = named_preconditioner(A, ComposedChoice::parse(&required(text, "text")));
  });
}

void heddle_multigrid_options_init(heddle_multigrid_options* options, size_t size) {
  init_struct(options, size, default_multigrid_options);
}

heddle_status heddle_preconditioner_create_multigrid(const heddle_operator* A, const char* text,
                                                     const heddle_multigrid_options* given,
                                                     heddle_preconditioner** result) {
  return guarded_by(A, [&] {
    heddle_preconditioner*& out = required(result, "result");
    const auto options = read_struct(given, default_multigrid_options, "heddle_multigrid_options");
    ComposedChoice choice = ComposedChoice::parse(&required(text, "text"));
    if (!choice.has(PreconditionerKind::multigrid)) {
      throw Error(ErrorKind::usage,
                  "options of multigrid are for it, and the preconditioner is " + choice.text());
    }
    choice.multigrid = told(choice.multigrid, *A->parts, options);
    out = named_preconditioner(A, choice);
  });
}

heddle_status heddle_preconditioner_from_callback(const heddle_operator* A, heddle_apply apply,
                                                  void* user, int32_t varies,
                                                  heddle_preconditioner** result) {
  return guarded_by(A, [&] {
    heddle_preconditioner*& out = required(result, "result");
    if (apply == nullptr) throw Error(ErrorKind::usage, "apply is a null pointer");
    const Callback callback{apply, user, A->parts->entry, "preconditioner",
                            location_on(A->parts->device())};
    PreconditionerParts made;
    A->parts->matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      made.made = SharedPreconditioner<S>(
          std::make_shared<CallbackPreconditioner<S>>(*matrix, callback, varies != 0));
    });
    out = new heddle_preconditioner{A->messages, A->parts, std::move(made)};
  });
}

void heddle_preconditioner_destroy(heddle_preconditioner** preconditioner) {
  if (preconditioner == nullptr) return;
  delete *preconditioner;
  *preconditioner = nullptr;
}
