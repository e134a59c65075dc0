#include "heddle/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "multigrid_hierarchy.hpp"
#include "preconditioner_fields.hpp"

namespace heddle {

template <class S>
Multigrid<S>::Multigrid(const detail::SlicedOperator<S>& matrix, const MultigridOptions& options,
                        std::span<const FieldView<const S>> candidates)
    : hierarchy_(std::make_unique<detail::Hierarchy<S>>(matrix, options, candidates)) {}
template <class S>
Multigrid<S>::Multigrid(Multigrid&&) noexcept = default;
template <class S>
Multigrid<S>::~Multigrid() = default;

template <class S>
std::optional<FieldShape> Multigrid<S>::shape() const {
  return detail::shape_of<S>(hierarchy_->matrix());
}
template <class S>
void Multigrid<S>::refresh() {
  hierarchy_->refresh();
}
template <class S>
bool Multigrid<S>::is_constant() const {
  return hierarchy_->cycle().is_constant();
}
template <class S>
bool Multigrid<S>::is_symmetric() const {
  // Restriction conjugates.
  return hierarchy_->matrix().ring() == Ring::real;
}
template <class S>
bool Multigrid<S>::is_capturable() const {
  return hierarchy_->cycle().is_capturable();
}
template <class S>
long long Multigrid<S>::bytes_of_application() const {
  return hierarchy_->cycle().bytes_of_application();
}
template <class S>
void Multigrid<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                         const Stream& stream) const {
  hierarchy_->cycle().apply(r, z, stream);
}

template <class S>
MultigridReport Multigrid<S>::report() const {
  return hierarchy_->report();
}

template <class S>
std::vector<std::vector<S>> rigid_body_modes(std::span<const std::array<double, 3>> points,
                                             int dimension) {
  if (dimension != 2 && dimension != 3) {
    throw Error(ErrorKind::usage,
                "rigid bodies are of 2 or 3 dimensions, not " + std::to_string(dimension));
  }
  const auto d = static_cast<std::size_t>(dimension);
  std::array<double, 3> centre{};
  for (const auto& point : points) {
    for (std::size_t c = 0; c < d; ++c) centre[c] += point[c] / static_cast<double>(points.size());
  }
  double radius = 0;
  for (const auto& point : points) {
    double distance = 0;
    for (std::size_t c = 0; c < d; ++c) distance = std::hypot(distance, point[c] - centre[c]);
    radius = std::max(radius, distance);
  }
  if (radius == 0) radius = 1;
  std::vector<std::vector<S>> modes(dimension == 2 ? 3 : 6, std::vector<S>(d * points.size()));
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::array<double, 3> at{};
    for (std::size_t c = 0; c < d; ++c) at[c] = (points[i][c] - centre[c]) / radius;
    for (std::size_t c = 0; c < d; ++c) modes[c][i * d + c] = 1;
    // Turns in the planes xy, yz and zx.
    for (std::size_t turn = 0; turn + d < modes.size(); ++turn) {
      const std::size_t from = turn, to = (turn + 1) % 3;
      modes[d + turn][i * d + from] = static_cast<S>(-at[to]);
      modes[d + turn][i * d + to] = static_cast<S>(at[from]);
    }
  }
  return modes;
}

template class Multigrid<float>;
template class Multigrid<double>;
template std::vector<std::vector<float>> rigid_body_modes(std::span<const std::array<double, 3>>,
                                                          int);
template std::vector<std::vector<double>> rigid_body_modes(std::span<const std::array<double, 3>>,
                                                           int);

}  // namespace heddle
