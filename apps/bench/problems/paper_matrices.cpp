#include "paper_matrices.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::bench {

namespace {

constexpr EntryKind complex_ = EntryKind::complex, quaternion_ = EntryKind::quaternion,
                    block3_ = EntryKind::block3;

Index up_to_whole(Index rows, Index of) { return (rows + of - 1) / of * of; }

double bytes_of_slot(const PaperMatrix& m) { return 8.0 * m.components + 4; }
double bytes_of_offsets(Index offsets) { return 4.0 * offsets; }

double csr_bytes(const PaperMatrix& m) {
  return static_cast<double>(m.entries) * bytes_of_slot(m) + bytes_of_offsets(m.rows + 1);
}
double step_of_ell(const PaperMatrix& m) { return bytes_of_slot(m) * up_to_whole(m.rows, 32); }
double offsets_of_slices(const PaperMatrix& m, Index slice) {
  return bytes_of_offsets(up_to_whole(m.rows, slice) / slice + 1);
}

}  // namespace

// Table 9 prints one of the two digits after the point that a pattern is to have. The other one is
// free, except that the text has both for the sliced layouts of RFdevice (section 5.5).
const std::array<PaperMatrix, paper_matrix_count> paper_matrices = {{
    {"mhd1280b", complex_, 2, 3, 1280, 22'778, {1.8, 1.5, 1.7}, {1.8, 1.5, 1.7}},
    {"RFdevice", complex_, 2, 2, 74'104, 365'580, {52.8, 1.0, 1.0}, {52.8, 0.98, 0.99}},
    {"fem_filter", complex_, 2, 3, 74'062, 1'731'206, {24.0, 1.8, 2.1}, {24.0, 1.8, 2.1}},
    {"mono_500Hz", complex_, 2, 3, 169'410, 5'033'796, {22.9, 1.2, 1.3}, {22.9, 1.2, 1.3}},
    {"surfaces/bunny", quaternion_, 4, 2, 34'834, 243'410, {1.7, 1.1, 1.2}, {1.7, 1.13, 1.19}},
    {"surfaces/armadillo",
     quaternion_,
     4,
     2,
     172'974,
     1'210'806,
     {1.8, 1.2, 1.2},
     {1.8, 1.16, 1.23}},
    {"surfaces/dragon", quaternion_, 4, 2, 435'545, 3'049'463, {2.3, 1.3, 1.4}, {2.3, 1.3, 1.4}},
    {"surfaces/buddha", quaternion_, 4, 2, 543'524, 3'805'882, {2.5, 1.3, 1.4}, {2.5, 1.3, 1.4}},
    {"fem/armadillo_1000.1", block3_, 9, 3, 1016, 11'180, {3.0, 1.5, 1.6}, {3.0, 1.5, 1.6}},
    {"fem/bunny2.4M", block3_, 9, 3, 27'112, 284'846, {7.4, 2.0, 2.3}, {7.4, 2.0, 2.3}},
    {"fem/nut_37k", block3_, 9, 3, 9095, 112'685, {2.6, 1.3, 1.4}, {2.6, 1.3, 1.4}},
    {"fem/dragon_100K", block3_, 9, 3, 26'436, 315'006, {2.8, 1.5, 1.6}, {2.8, 1.5, 1.6}},
    {"fem/NX_MotorH67k", block3_, 9, 3, 66'840, 899'478, {1.9, 1.2, 1.3}, {1.9, 1.2, 1.3}},
}};

const PaperMatrix* paper_matrix(EntryKind entry, Index rows) {
  const auto at = std::find_if(
      paper_matrices.begin(), paper_matrices.end(),
      [&](const PaperMatrix& matrix) { return matrix.entry == entry && matrix.rows == rows; });
  return at == paper_matrices.end() ? nullptr : &*at;
}

RowStatistics wanted_statistics(const PaperMatrix& m) {
  const double csr = csr_bytes(m);
  const auto steps = [&](double ratio, Index slice) {
    const double step = bytes_of_slot(m) * slice;
    return static_cast<Offset>(std::lround((ratio * csr - offsets_of_slices(m, slice)) / step));
  };
  const double lengths = bytes_of_offsets(m.rows);
  return {
      .rows = m.rows,
      .entries = m.entries,
      .longest = static_cast<Index>(std::lround((m.wanted.ell * csr - lengths) / step_of_ell(m))),
      .steps_of_16 = steps(m.wanted.sl16, 16),
      .steps_of_32 = steps(m.wanted.sl32, 32)};
}

LayoutRatios paper_ratios(const PaperMatrix& m, const RowStatistics& rows) {
  const double csr = csr_bytes(m);
  const auto sliced = [&](Offset steps, Index slice) {
    return (static_cast<double>(steps) * slice * bytes_of_slot(m) + offsets_of_slices(m, slice)) /
           csr;
  };
  return {(rows.longest * step_of_ell(m) + bytes_of_offsets(m.rows)) / csr,
          sliced(rows.steps_of_16, 16), sliced(rows.steps_of_32, 32)};
}

}  // namespace heddle::bench
