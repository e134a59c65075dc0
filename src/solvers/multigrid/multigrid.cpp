#include "heddle/multigrid.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>

#include "base/stream_order.hpp"
#include "float_levels.hpp"
#include "heddle/config.hpp"
#include "heddle/tools/team.hpp"
#include "hierarchy.hpp"
#include "setup_values_cuda.hpp"
#include "solvers/preconditioners/preconditioner_fields.hpp"

namespace heddle {

namespace {

template <class S>
std::unique_ptr<detail::Levels<S>> make_levels(const detail::SlicedOperator<S>& matrix,
                                               const MultigridOptions& options,
                                               std::span<const FieldView<const S>> candidates) {
  if constexpr (std::is_same_v<S, double>) {
    if (options.level_precision == StoredScalar::single) {
      return std::make_unique<detail::FloatLevels>(matrix, options, candidates);
    }
  }
  return std::make_unique<detail::Hierarchy<S>>(matrix, options, candidates);
}

}  // namespace

template <class S>
Multigrid<S>::Multigrid(const detail::SlicedOperator<S>& matrix, const MultigridOptions& options,
                        std::span<const FieldView<const S>> candidates)
    : levels_(make_levels(matrix, options, candidates)) {}
template <class S>
Multigrid<S>::Multigrid(Multigrid&&) noexcept = default;
template <class S>
Multigrid<S>::~Multigrid() = default;

template <class S>
std::optional<FieldShape> Multigrid<S>::shape() const {
  return detail::shape_of<S>(levels_->matrix());
}
template <class S>
void Multigrid<S>::refresh() {
  levels_->refresh();
}
template <class S>
bool Multigrid<S>::is_constant() const {
  return levels_->cycle().is_constant();
}
template <class S>
bool Multigrid<S>::is_symmetric() const {
  // Restriction conjugates.
  return levels_->matrix().ring() == Ring::real;
}
template <class S>
bool Multigrid<S>::is_capturable() const {
  return levels_->cycle().is_capturable();
}
template <class S>
bool Multigrid<S>::can_queue_refresh() const {
  return levels_->can_queue_refresh();
}
template <class S>
void Multigrid<S>::queue_refresh(Index*, const Stream& stream) {
  InOrderOf caller(stream.queue, levels_->matrix().device().stream());
  levels_->queue_refresh();
  caller.leave();
}
template <class S>
long long Multigrid<S>::bytes_of_application() const {
  return levels_->cycle().bytes_of_application();
}
template <class S>
void Multigrid<S>::apply(const FieldView<const S>& r, const FieldView<S>& z,
                         const Stream& stream) const {
  levels_->cycle().apply(r, z, stream);
}

template <class S>
MultigridReport Multigrid<S>::report() const {
  return levels_->report();
}

namespace {

using Points = std::span<const std::array<double, 3>>;

/// Motions about the points' mean. The same bits for any number of threads.
detail::RigidMotions motions_of(Points points, int dimension, const Stream& host) {
  if (dimension != 2 && dimension != 3) {
    throw Error(ErrorKind::usage,
                "rigid bodies have 2 or 3 dimensions, not " + std::to_string(dimension));
  }
  detail::RigidMotions motions{.dimension = dimension};
  const auto d = static_cast<std::size_t>(dimension);
  const double share = 1 / static_cast<double>(points.size());
  constexpr std::size_t of_group = 4096;
  std::vector<std::array<double, 3>> sums((points.size() + of_group - 1) / of_group);
  const int team = team_size(host, static_cast<long long>(points.size()));
  parallel_for(team, sums.size(), [&](std::size_t group) {
    const std::size_t first = group * of_group;
    for (const auto& point : points.subspan(first, std::min(of_group, points.size() - first))) {
      for (std::size_t c = 0; c < d; ++c) sums[group][c] += share * point[c];
    }
  });
  for (const auto& sum : sums) {
    for (std::size_t c = 0; c < d; ++c) motions.centre[c] += sum[c];
  }
  const auto largest = [&](const auto& size_of) {
    return parallel_reduce(
        team, points.size(), 0.0,
        [&](std::size_t i, double& most) { most = std::max(most, size_of(points[i])); },
        [](double& most, double other) { most = std::max(most, other); });
  };
  const double size = largest([&](const auto& point) {
    double most = 0;
    for (std::size_t c = 0; c < d; ++c) {
      most = std::max(most, std::abs(point[c] - motions.centre[c]));
    }
    return most;
  });
  if (size == 0) return motions;
  motions.radius = size * std::sqrt(largest([&](const auto& point) {
                     double squared = 0;
                     for (std::size_t c = 0; c < d; ++c) {
                       const double part = (point[c] - motions.centre[c]) / size;
                       squared += part * part;
                     }
                     return squared;
                   }));
  return motions;
}

template <class S>
void put_motions(Points points, const detail::RigidMotions& motions, S* const* fields,
                 const Stream& host) {
  const auto d = static_cast<std::size_t>(motions.dimension);
  parallel_for(team_size(host, static_cast<long long>(points.size())), points.size(),
               [&](std::size_t i) {
                 for (int motion = 0; motion < motions.count(); ++motion) {
                   for (std::size_t c = 0; c < d; ++c) {
                     fields[motion][i * d + c] =
                         static_cast<S>(motions.at(points[i].data(), motion, static_cast<int>(c)));
                   }
                 }
               });
}

}  // namespace

template <class S>
std::vector<std::vector<S>> rigid_body_modes(Points points, int dimension) {
  const Stream host = Device::cpu().stream();
  const detail::RigidMotions motions = motions_of(points, dimension, host);
  std::vector<std::vector<S>> modes;
  S* fields[6];
  for (int k = 0; k < motions.count(); ++k) {
    modes.emplace_back(points.size() * static_cast<std::size_t>(dimension));
    fields[k] = modes.back().data();
  }
  put_motions<S>(points, motions, fields, host);
  return modes;
}

template <class S>
std::vector<Array<S>> rigid_body_modes(Points points, int dimension, const Device& device) {
  const Stream host = Device::cpu(device.threads()).stream();
  const detail::RigidMotions motions = motions_of(points, dimension, host);
  std::vector<Array<S>> modes;
  S* fields[6] = {};
  for (int k = 0; k < motions.count(); ++k) {
    modes.emplace_back(points.size() * static_cast<std::size_t>(dimension), device);
    fields[k] = modes.back().data();
  }
  if (points.empty()) return modes;
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      const Array<double> there(std::span(points.data()->data(), 3 * points.size()), device);
      cuda::put_motions<S>(there.data(), static_cast<Offset>(points.size()), motions, fields,
                           device.stream());
      device.synchronize();
      return modes;
    }
  }
  put_motions<S>(points, motions, fields, host);
  return modes;
}

template class Multigrid<float>;
template class Multigrid<double>;
#define HEDDLE_RIGID_BODY_MODES(S)                                    \
  template std::vector<std::vector<S>> rigid_body_modes(Points, int); \
  template std::vector<Array<S>> rigid_body_modes(Points, int, const Device&);
HEDDLE_RIGID_BODY_MODES(float)
HEDDLE_RIGID_BODY_MODES(double)
#undef HEDDLE_RIGID_BODY_MODES

}  // namespace heddle
