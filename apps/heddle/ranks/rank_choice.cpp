#include "rank_choice.hpp"

#include "description/scaling.hpp"
#include "readable.hpp"

namespace heddle::cli {

RankChoice choose_ranks(const RankOptions& options, const AnyMatrix& matrix,
                        const std::vector<Device>& devices) {
  const detail::ScalingModel model(detail::rates_of_device(devices.front().description()),
                                   detail::network_of(options.transfer_of_threads()),
                                   detail::bytes_on_ranks(matrix));
  const double alone = model.iteration_alone(matrix.rows(), matrix.entries());
  RankChoice choice;
  choice.reason = "predicted for an iteration of conjugate gradient: " + readable_seconds(alone) +
                  " on one GPU";
  std::vector<detail::ScalingPoint> points;
  for (int count = 2; count <= static_cast<int>(devices.size()); ++count) {
    points.push_back(model.predict(matrix.pattern(), options.make_partition(matrix, count)));
    choice.reason +=
        ", " + readable_seconds(points.back().iteration_task) + " on " + std::to_string(count);
  }
  choice.ranks = detail::best_number_of_ranks(alone, points);
  return choice;
}

}  // namespace heddle::cli
