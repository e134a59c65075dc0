#include "vendor_formats.hpp"

#include <algorithm>
#include <limits>

#include "heddle/error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::bench {

namespace {

void check_narrow(long long numbers) {
  if (numbers <= std::numeric_limits<int>::max()) return;
  throw Error(ErrorKind::unsupported,
              std::to_string(numbers) + " numbers exceed the range of offsets of 32 bits");
}

template <class S>
S number_at(const detail::Position& position, const S* components) {
  if (position.sign == 0) return S(0);
  const S component = components[position.component];
  return position.sign > 0 ? component : -component;
}

/// Returns true if a component takes any part of the number at (row, column).
bool is_taken(const BlockForm& form, int row, int column) {
  const std::ptrdiff_t at = (static_cast<std::ptrdiff_t>(row) * form.size + column) * form.parts;
  const auto first = form.at.begin() + at;
  return std::any_of(first, first + form.parts, [](const auto& p) { return p.sign != 0; });
}

std::vector<int> taken_in_rows(const BlockForm& form) {
  std::vector<int> taken(static_cast<std::size_t>(form.size));
  for (int i = 0; i < form.size; ++i) {
    for (int j = 0; j < form.size; ++j) taken[static_cast<std::size_t>(i)] += is_taken(form, i, j);
  }
  return taken;
}

}  // namespace

std::string BlockForm::name() const {
  return std::to_string(size) + "x" + std::to_string(size) + (parts == 2 ? " complex" : " real");
}

BlockForm complex_form_of_quaternions() {
  enum { w, x, y, z };
  return {2,
          2,
          {{w, 1},
           {x, 1},
           {y, -1},
           {z, -1},  // a, -b
           {y, 1},
           {z, -1},
           {w, 1},
           {x, -1}},  // conj b, conj a
          {1, 1, 1, -1}};
}

BlockForm complex_form_of_dual_quaternions() {
  const BlockForm quaternion = complex_form_of_quaternions();
  BlockForm form{4, 2, std::vector<detail::Position>(32), {1, 1, 1, -1, 1, 1, 1, -1}};
  const auto place = [&](int row, int column, int first_component) {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        for (int part = 0; part < 2; ++part) {
          detail::Position position = quaternion.at[(i * 2 + j) * 2 + part];
          position.component += first_component;
          form.at[((row + i) * 4 + column + j) * 2 + part] = position;
        }
      }
    }
  };
  place(0, 0, 0);
  place(2, 2, 0);
  place(2, 0, 4);
  return form;
}

std::vector<int> narrow_offsets(const PatternView& pattern) {
  check_narrow(pattern.entries());
  std::vector<int> offsets(static_cast<std::size_t>(pattern.rows) + 1);
  for (Index row = 0; row <= pattern.rows; ++row) {
    offsets[static_cast<std::size_t>(row)] = static_cast<int>(pattern.offsets[row]);
  }
  return offsets;
}

template <class S>
std::vector<S> block_values(const EntriesView<S>& matrix, const BlockForm& form, bool by_columns) {
  const int numbers = form.numbers();
  std::vector<detail::Position> at = form.at;
  if (by_columns) {
    const auto size = static_cast<std::size_t>(form.size),
               parts = static_cast<std::size_t>(form.parts);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        std::copy_n(form.at.data() + (i * size + j) * parts, parts,
                    at.data() + (j * size + i) * parts);
      }
    }
  }
  const Offset entries = matrix.pattern.entries();
  std::vector<S> values(static_cast<std::size_t>(entries) * static_cast<std::size_t>(numbers));
  parallel_for(default_threads(), entries, [&](Offset k) {
    const S* const from = matrix.values + k * matrix.components;
    S* const to = values.data() + k * numbers;
    for (int i = 0; i < numbers; ++i) to[i] = number_at(at[static_cast<std::size_t>(i)], from);
  });
  return values;
}

long long count_numbers(const PatternView& pattern, const BlockForm& form) {
  long long taken = 0;
  for (const int n : taken_in_rows(form)) taken += n;
  return pattern.entries() * taken;
}

template <class S>
NumberRows<S> number_rows(const EntriesView<S>& matrix, const BlockForm& form) {
  const PatternView& pattern = matrix.pattern;
  const long long numbers = count_numbers(pattern, form);
  check_narrow(std::max<long long>(numbers, static_cast<long long>(pattern.rows) * form.size));
  const std::vector<int> taken = taken_in_rows(form);
  NumberRows<S> rows;
  rows.parts = form.parts;
  rows.offsets.assign(static_cast<std::size_t>(pattern.rows) * form.size + 1, 0);
  rows.column.resize(static_cast<std::size_t>(numbers));
  rows.values.resize(static_cast<std::size_t>(numbers) * form.parts);
  for (Index r = 0; r < pattern.rows; ++r) {
    for (int i = 0; i < form.size; ++i) {
      const auto row = static_cast<std::size_t>(r) * form.size + i;
      rows.offsets[row + 1] = rows.offsets[row] + pattern.length(r) * taken[i];
    }
  }
  parallel_for(default_threads(), pattern.rows, [&](Index r) {
    for (int i = 0; i < form.size; ++i) {
      std::size_t to =
          static_cast<std::size_t>(rows.offsets[static_cast<std::size_t>(r) * form.size + i]);
      for (Offset k = pattern.offsets[r]; k < pattern.offsets[Offset(r) + 1]; ++k) {
        for (int j = 0; j < form.size; ++j) {
          if (!is_taken(form, i, j)) continue;
          rows.column[to] = pattern.column[k] * form.size + j;
          for (int part = 0; part < form.parts; ++part) {
            rows.values[to * form.parts + part] =
                number_at(form.at[(i * form.size + j) * form.parts + part],
                          matrix.values + k * matrix.components);
          }
          ++to;
        }
      }
    }
  });
  return rows;
}

template <class S>
SlicedEll<S> sliced_ell(const NumberRows<S>& matrix, int slice) {
  const int rows = matrix.rows();
  const int slices = (rows + slice - 1) / slice;
  SlicedEll<S> ell;
  ell.slice = slice;
  ell.offsets.assign(static_cast<std::size_t>(slices) + 1, 0);
  for (int s = 0; s < slices; ++s) {
    int longest = 0;
    for (int row = s * slice; row < std::min(rows, (s + 1) * slice); ++row) {
      longest = std::max(longest, matrix.offsets[static_cast<std::size_t>(row) + 1] -
                                      matrix.offsets[static_cast<std::size_t>(row)]);
    }
    const long long end =
        ell.offsets[static_cast<std::size_t>(s)] + static_cast<long long>(longest) * slice;
    check_narrow(end);
    ell.offsets[static_cast<std::size_t>(s) + 1] = static_cast<int>(end);
  }
  const auto slots = static_cast<std::size_t>(ell.offsets.back());
  ell.column.assign(slots, -1);
  ell.values.assign(slots * matrix.parts, S(0));
  parallel_for(default_threads(), rows, [&](int row) {
    std::size_t to = static_cast<std::size_t>(ell.offsets[static_cast<std::size_t>(row / slice)]) +
                     static_cast<std::size_t>(row % slice);
    for (int k = matrix.offsets[static_cast<std::size_t>(row)];
         k < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++k) {
      ell.column[to] = matrix.column[static_cast<std::size_t>(k)];
      std::copy_n(matrix.values.data() + static_cast<std::size_t>(k) * matrix.parts, matrix.parts,
                  ell.values.data() + to * matrix.parts);
      to += static_cast<std::size_t>(slice);
    }
  });
  return ell;
}

template <class S>
std::vector<S> with_signs(const std::vector<double>& scalars, const BlockForm& form) {
  std::vector<S> signed_ones(scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    signed_ones[i] = static_cast<S>(form.signs[i % form.signs.size()] * scalars[i]);
  }
  return signed_ones;
}

template <class S>
std::vector<double> without_signs(const std::vector<S>& scalars, const BlockForm& form) {
  std::vector<double> users(scalars.size());
  for (std::size_t i = 0; i < scalars.size(); ++i) {
    users[i] = form.signs[i % form.signs.size()] * static_cast<double>(scalars[i]);
  }
  return users;
}

#define HEDDLE_INSTANTIATE(S)                                                             \
  template std::vector<S> block_values<S>(const EntriesView<S>&, const BlockForm&, bool); \
  template NumberRows<S> number_rows<S>(const EntriesView<S>&, const BlockForm&);         \
  template SlicedEll<S> sliced_ell<S>(const NumberRows<S>&, int);                         \
  template std::vector<S> with_signs<S>(const std::vector<double>&, const BlockForm&);    \
  template std::vector<double> without_signs<S>(const std::vector<S>&, const BlockForm&);
HEDDLE_INSTANTIATE(float)
HEDDLE_INSTANTIATE(double)
#undef HEDDLE_INSTANTIATE

}  // namespace heddle::bench
