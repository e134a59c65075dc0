// The description of a matrix and its products, for heddle.h.
#include "description/matrix_description.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/tuning/measure.hpp"
#include "ranks.hpp"
#include "settings_given.hpp"
#include "sized_struct.hpp"
#include "tuning/search/linear_work.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

detail::DescriptionOptions description_of(const heddle_settings* settings) {
  const auto given = options_of<DescriptionSettings>(settings);
  const auto storage = options_of<StorageSettings>(settings);
  detail::DescriptionOptions options;
  options.nodes = storage.nodes();
  options.balance = {given.cache, given.bandwidth, given.link};
  options.tries_multigrid = given.tries_multigrid;
  if (!given.scaling.empty()) {
    options.scaling = detail::question_of(given);
  } else {
    for (const char* const name : {"rates", "partition", "ranks", "unknowns"}) {
      if (!given_or_none(settings).named.has(name)) continue;
      throw Error(ErrorKind::usage, std::string(name) + " needs scaling: name a network");
    }
  }
  return options;
}

}  // namespace

heddle_status heddle_matrix_describe(const heddle_matrix* matrix, const heddle_settings* settings,
                                     char* buffer, size_t capacity, size_t* length) {
  return guarded_by(matrix, [&] {
    const Device device = device_of(settings);
    const auto json = to_json(detail::describe(matrix->matrix, description_of(settings), device));
    const std::size_t size = copy_text(
        json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace), buffer, capacity);
    if (length != nullptr) *length = size;
  });
}

heddle_status heddle_matrix_best_ranks(const heddle_matrix* matrix, const heddle_settings* settings,
                                       int32_t* ranks) {
  return guarded_by(matrix, [&] {
    const auto given = options_of<DescriptionSettings>(settings);
    if (given.scaling.empty()) throw Error(ErrorKind::usage, "scaling needs a network");
    constexpr int no_flops = 0;  // an iteration takes the time of its bytes
    required(ranks, "ranks") = detail::predict_scaling(matrix->matrix, detail::question_of(given),
                                                       no_flops, device_of(settings))
                                   .best;
  });
}

heddle_status heddle_operator_measure(const heddle_operator* A, int32_t repetitions, int32_t cold,
                                      int32_t triad, heddle_product_times* times) {
  return guarded_by(A, [&] {
    known_size(required(times, "times"), "heddle_product_times");
    constexpr std::int32_t most = 100000;
    if (repetitions < 1 || repetitions > most) {
      throw Error(ErrorKind::usage, "the repetitions must be 1 to " + std::to_string(most));
    }
    const OperatorParts* stored = A->parts.get();
    while (stored->made_of != nullptr) stored = stored->made_of.get();
    const bool has_entries = stored->matrix.visit(
        [](const auto& matrix) { return matrix->stored_entries() != nullptr; });
    if (stored->ranks || !has_entries) {
      throw Error(ErrorKind::unsupported,
                  "only products of a matrix stored in one process are measured");
    }
    const Device device = A->parts->device();
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    heddle_product_times result{0, 0, 0, 0, none, none, none, 0, none};
    A->parts->matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      LinearWork<S> product(matrix, 1);
      using Work = std::function<void(const Stream&)>;
      std::vector<Work> works = {[&](const Stream& stream) { product.run(stream); }};
      std::optional<Triad> limit;
      if (triad != 0) {
        limit.emplace(device);
        works.emplace_back([&](const Stream& stream) { limit->run(stream); });
      }
      const std::vector<Timing> warm = measure(works, repetitions, device);
      result.lower_quartile = warm[0].lower_quartile;
      result.median = warm[0].median;
      result.upper_quartile = warm[0].upper_quartile;
      result.moved_bytes = matrix->bytes_of_product();
      if (limit) result.triad_bandwidth = static_cast<double>(limit->bytes()) / warm[1].median;
      if (cold == 0) return;
      const Timing of_cold = measure_cold({works.front()}, repetitions, device)[0];
      result.cold_lower_quartile = of_cold.lower_quartile;
      result.cold_median = of_cold.median;
      result.cold_upper_quartile = of_cold.upper_quartile;
    });
    write_struct(times, result, "heddle_product_times");
  });
}
