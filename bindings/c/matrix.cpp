// Assembled matrices of heddle.h.
#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/unset_array.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/problems.hpp"
#include "heddle/tools/team.hpp"
#include "heddle/triplets.hpp"
#include "heddle/tuning/features.hpp"
#include "io/read_numbers.hpp"
#include "io/write_entries.hpp"
#include "patterns.hpp"
#include "sized_struct.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// Copies the scalars of a matrix of E, entry by entry, blocks by rows.
template <class E>
void copy_values(const heddle_view& values, std::span<stored_scalar_t<E>> to) {
  using S = stored_scalar_t<E>;
  check_values<S>(values, kind_of(values.entry));
  const S* const from = static_cast<const S*>(values.data);
  if constexpr (requires { E::block_rows; }) {
    if (values.layout == HEDDLE_COLUMN_MAJOR) {
      constexpr int size = E::components / (E::block_rows * E::block_columns);
      for (std::size_t i = 0; i < to.size(); i += E::components) {
        for (int k = 0; k < E::components; ++k) {
          to[i + static_cast<std::size_t>(k)] =
              from[i + static_cast<std::size_t>(
                           transposed_component(k, E::block_rows, E::block_columns, size))];
        }
      }
      return;
    }
  }
  std::copy_n(from, to.size(), to.begin());
}

/// Offsets and columns of a pattern in compressed sparse rows, around its values.
template <class S>
detail::CsrArrays<S> csr_arrays(const heddle_pattern& pattern, Array<S> scalars) {
  const Indices row(pattern.row, pattern.rows + 1, pattern.row_bits, pattern.base, "row");
  const Indices column(pattern.column, pattern.entries, pattern.column_bits, pattern.base,
                       "column");
  Array<Offset> offsets(static_cast<std::size_t>(pattern.rows) + 1);
  for (std::int64_t i = 0; i <= pattern.rows; ++i) {
    offsets[static_cast<std::size_t>(i)] = static_cast<Offset>(row[i]);
  }
  if (row[pattern.rows] != pattern.entries) {
    throw Error(ErrorKind::size_mismatch,
                "the last row offset is " + std::to_string(row[pattern.rows]) + ", but there are " +
                    std::to_string(pattern.entries) + " entries");
  }
  return {static_cast<Index>(pattern.rows), static_cast<Index>(pattern.columns), std::move(offsets),
          column.narrowed(pattern.entries, "column"), std::move(scalars)};
}

template <class E>
Array<stored_scalar_t<E>> scalars_of(const heddle_view& values) {
  UnsetArray<stored_scalar_t<E>> scalars(static_cast<std::size_t>(values.count) * E::components);
  copy_values<E>(values, scalars.span());
  return std::move(scalars).into_array();
}
template <class S>
Array<S> scalars_of(const heddle_view& values, const NamedEntry& defined) {
  check_values<S>(values, defined);
  Array<S> scalars(static_cast<std::size_t>(values.count) *
                   static_cast<std::size_t>(defined.entry.definition()->size()));
  std::copy_n(static_cast<const S*>(values.data), scalars.size(), scalars.data());
  return scalars;
}

struct FromCsr {
  template <class E>
  AnyMatrix operator()(const heddle_pattern& pattern, const heddle_view& values) const {
    auto own = csr_arrays(pattern, scalars_of<E>(values));
    return AnyMatrix(CsrMatrix<E>(own.rows, own.columns, std::move(own.offsets),
                                  std::move(own.column), std::move(own.values)));
  }
  template <class S>
  AnyMatrix operator()(const heddle_pattern& pattern, const heddle_view& values,
                       const NamedEntry& defined) const {
    return AnyMatrix(DefinedMatrix<S>(defined.entry.definition(),
                                      csr_arrays(pattern, scalars_of<S>(values, defined))));
  }
};

struct FromTriplets {
  template <class E>
  AnyMatrix operator()(const heddle_pattern& pattern, const heddle_view& values) const {
    const TripletPlaces at(pattern);
    const auto scalars = scalars_of<E>(values);
    return AnyMatrix(
        assemble<E>(pattern.rows, pattern.columns, at.row.span(), at.column.span(), scalars.span())
            .matrix);
  }
  template <class S>
  AnyMatrix operator()(const heddle_pattern& pattern, const heddle_view& values,
                       const NamedEntry& defined) const {
    const TripletPlaces at(pattern);
    const Array<S> given = scalars_of<S>(values, defined);
    const auto rows = static_cast<Index>(pattern.rows),
               columns = static_cast<Index>(pattern.columns);
    detail::OrderedTriplets ordered =
        detail::order_triplets(rows, columns, at.row.size(), {at.row.data(), sizeof(Index)},
                               {at.column.data(), sizeof(Index)}, Device::cpu());
    const auto size = static_cast<std::size_t>(defined.entry.definition()->size());
    Array<S> sums(ordered.column.size() * size);
    for (std::size_t i = 0; i < ordered.column.size(); ++i) {
      for (std::size_t k = 0; k < size; ++k) {
        S sum = given[ordered.triplet[ordered.first[i]] * size + k];
        for (std::uint32_t j = ordered.first[i] + 1; j < ordered.first[i + 1]; ++j) {
          sum += given[ordered.triplet[j] * size + k];
        }
        sums[i * size + k] = sum;
      }
    }
    return AnyMatrix(DefinedMatrix<S>(defined.entry.definition(), rows, columns,
                                      std::move(ordered.offsets), std::move(ordered.column),
                                      std::move(sums)));
  }
};

heddle_status assembled(heddle_context* context, const heddle_pattern* given,
                        const heddle_view* given_values, heddle_matrix** matrix, const auto& make) {
  return guarded_by(context, [&] {
    heddle_matrix*& out = required(matrix, "matrix");
    const heddle_pattern pattern = checked_pattern(given);
    const heddle_view& values = required(given_values, "values");
    check_count(values, pattern.entries);
    const NamedEntry entry = context->definitions.find(values.entry);
    const Precision precision = precision_of(values.precision);
    const auto defined = [&] {
      return precision == Precision::single_precision
                 ? make.template operator()<float>(pattern, values, entry)
                 : make.template operator()<double>(pattern, values, entry);
    };
    try {
      AnyMatrix any = entry.entry.definition()
                          ? defined()
                          : visit_entry(entry.entry.kind(), precision, [&]<class E>() {
                              return make.template operator()<E>(pattern, values);
                            });
      out = new heddle_matrix{context->messages, std::move(any), entry};
    } catch (const Error& error) {
      // The library reports faults of a pattern as this kind, wherever the pattern came from.
      if (error.kind() != ErrorKind::malformed_file) throw;
      throw Error(ErrorKind::usage, error.what());
    }
  });
}

AnyMatrix generated(const std::string& problem, Index size, std::uint64_t seed) {
  if (problem == "poisson") return AnyMatrix(poisson(size, seed));
  if (problem == "elasticity") return AnyMatrix(elasticity(size, seed));
  if (problem == "helmholtz") return AnyMatrix(helmholtz(size, seed));
  if (problem == "dirac") return AnyMatrix(dirac(size, seed));
  throw Error(ErrorKind::usage, "there is no problem '" + problem +
                                    "'; there are poisson, elasticity, helmholtz, dirac");
}

}  // namespace

heddle_status heddle_matrix_from_csr(heddle_context* context, const heddle_pattern* pattern,
                                     const heddle_view* values, heddle_matrix** matrix) {
  return assembled(context, pattern, values, matrix, FromCsr());
}

heddle_status heddle_matrix_from_triplets(heddle_context* context, const heddle_pattern* pattern,
                                          const heddle_view* values, heddle_matrix** matrix) {
  return assembled(context, pattern, values, matrix, FromTriplets());
}

heddle_status heddle_matrix_read(heddle_context* context, const char* path, heddle_entry entry,
                                 heddle_precision precision, heddle_matrix** matrix) {
  return guarded_by(context, [&] {
    heddle_matrix*& out = required(matrix, "matrix");
    const std::string name = &required(path, "path");
    if (entry == HEDDLE_NUMBERS) {
      AnyMatrix read = read_numbers(name, precision_of(precision), Device::cpu());
      const NamedEntry named = context->definitions.find(
          read.entry().kind() == EntryKind::complex ? HEDDLE_COMPLEX : HEDDLE_REAL);
      out = new heddle_matrix{context->messages, std::move(read), named};
      return;
    }
    const NamedEntry named = context->definitions.find(entry);
    out = new heddle_matrix{context->messages,
                            AnyMatrix::read(name, named.entry, precision_of(precision)), named};
  });
}

heddle_status heddle_matrix_write(const heddle_matrix* matrix, const char* path) {
  return guarded_by(matrix, [&] {
    const std::string name = &required(path, "path");
    check_entries_path("the path", name);
    if (matrix->matrix.precision() != Precision::double_precision) {
      throw Error(ErrorKind::unsupported, "files hold matrices in double precision only");
    }
    if (matrix->matrix.is_defined()) {
      matrix->matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& m) {
        if constexpr (std::is_same_v<S, double>) write_entries(name, m, nullptr);
      });
      return;
    }
    matrix->matrix.visit([&]<class E>(const CsrMatrix<E>& m) {
      if constexpr (std::is_same_v<stored_scalar_t<E>, double>) write_entries(name, m, nullptr);
    });
  });
}

heddle_status heddle_matrix_generate(heddle_context* context, const char* problem, int64_t size,
                                     uint64_t seed, heddle_matrix** matrix) {
  return guarded_by(context, [&] {
    heddle_matrix*& out = required(matrix, "matrix");
    if (size < 1 || size > largest_problem) {
      throw Error(ErrorKind::usage,
                  "the size of a problem is 1 to " + std::to_string(largest_problem) + " rows");
    }
    AnyMatrix made = generated(&required(problem, "problem"), static_cast<Index>(size), seed);
    const EntryKind kind = made.kind();
    out = new heddle_matrix{context->messages, std::move(made), kind};
  });
}

void heddle_matrix_destroy(heddle_matrix** matrix) { destroy(matrix); }

heddle_status heddle_matrix_update_values(heddle_matrix* matrix, const heddle_view* given) {
  return guarded_by(matrix, [&] {
    const heddle_view& values = required(given, "values");
    check_count(values, matrix->matrix.entries());
    // `visit` gives const access, but this matrix is not const and belongs to the handle.
    if (matrix->matrix.is_defined()) {
      matrix->matrix.visit_defined([&]<class S>(const DefinedMatrix<S>& kept) {
        check_values<S>(values, matrix->entry);
        auto& to = const_cast<Array<S>&>(kept.values());
        std::copy_n(static_cast<const S*>(values.data), to.size(), to.data());
      });
      return;
    }
    matrix->matrix.visit([&]<class E>(const CsrMatrix<E>& kept) {
      check_values<stored_scalar_t<E>>(values, matrix->entry);
      copy_values<E>(values, const_cast<CsrMatrix<E>&>(kept).values().span());
    });
  });
}

heddle_status heddle_matrix_arrays(const heddle_matrix* matrix, heddle_pattern* pattern,
                                   heddle_view* values) {
  return guarded_by(matrix, [&] {
    heddle_view& own_values = required(values, "values");
    const AnyMatrix& m = matrix->matrix;
    const PatternView own = m.pattern();
    heddle_pattern result{};
    result.rows = own.rows;
    result.columns = own.columns;
    result.entries = own.entries();
    result.row = own.offsets.wide();
    result.column = own.column;
    result.row_bits = 64;
    result.column_bits = 32;
    write_struct(&required(pattern, "pattern"), result, "heddle_pattern");
    own_values = {const_cast<std::byte*>(m.values().data()),
                  m.entries(),
                  matrix->entry.number,
                  precision_of(m.precision()),
                  HEDDLE_ROW_MAJOR,
                  HEDDLE_HOST};
  });
}

heddle_status heddle_matrix_info(const heddle_matrix* matrix, heddle_info* info) {
  return guarded_by(matrix, [&] {
    const AnyMatrix& m = matrix->matrix;
    known_size(required(info, "info"), "heddle_info");
    const Features found = features(m, Device::cpu());
    heddle_info result{};
    result.rows = found.rows;
    result.columns = found.columns;
    result.entries = found.entries;
    result.entry = matrix->entry.number;
    result.precision = precision_of(m.precision());
    result.shortest_row = found.shortest_row;
    result.longest_row = found.longest_row;
    result.empty_rows = found.empty_rows;
    result.bandwidth = found.bandwidth;
    result.mean_row = found.mean_row;
    result.missing_diagonal = found.missing_diagonal;
    result.singular_diagonal = found.singular_diagonal;
    result.symmetric_pattern = found.symmetric_pattern ? 1 : 0;
    result.has_adjoint = found.has_adjoint ? 1 : 0;
    result.hermitian_defect = found.hermitian_defect;
    write_struct(info, result, "heddle_info");
  });
}
