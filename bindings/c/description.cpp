// What a matrix and its products are like, for heddle.h.
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

#include "device_named.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/tuning/measure.hpp"
#include "ranks.hpp"
#include "sized_struct.hpp"
#include "tuning/search/linear_work.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

const heddle_description_options default_description_options{sizeof(heddle_description_options),
                                                             nullptr,
                                                             0,
                                                             0,
                                                             detail::BalanceAssumptions{}.cache,
                                                             detail::BalanceAssumptions{}.bandwidth,
                                                             detail::BalanceAssumptions{}.link,
                                                             nullptr,
                                                             nullptr,
                                                             nullptr,
                                                             nullptr,
                                                             0,
                                                             0,
                                                             0,
                                                             nullptr};

double rate_of(double given, const char* name) {
  if (given > 0 && std::isfinite(given)) return given;
  throw Error(ErrorKind::usage, std::string(name) + " is above 0, in GB/s");
}

detail::ScalingQuestion question_of(const heddle_description_options& c) {
  detail::ScalingQuestion question;
  question.network = c.scaling;
  if (c.rates != nullptr) question.rates = c.rates;
  if (c.partition != nullptr) question.partition = c.partition;
  if (c.rank_count < 0) throw Error(ErrorKind::usage, "rank_count is negative");
  if (c.rank_count > 0) {
    const std::int32_t* const first = &required(c.ranks, "ranks");
    question.ranks.assign(first, first + c.rank_count);
  }
  question.unknowns = c.unknowns;
  return question;
}

detail::DescriptionOptions options_of(const heddle_description_options& c) {
  detail::DescriptionOptions options;
  if (c.node != 0) options.nodes.size = c.node;
  if (c.dense != nullptr) options.nodes.dense = parse_dense(c.dense);
  if (c.cache < 0) throw Error(ErrorKind::usage, "the cache has 0 or more bytes");
  options.balance = {c.cache, rate_of(c.bandwidth, "bandwidth"), rate_of(c.link, "link")};
  options.tries_multigrid = c.multigrid != 0;
  if (c.scaling != nullptr) {
    options.scaling = question_of(c);
  } else if (c.rates != nullptr || c.partition != nullptr || c.rank_count != 0 || c.unknowns != 0) {
    throw Error(ErrorKind::usage,
                "rates, partition, ranks and unknowns are for scaling: name a network");
  }
  return options;
}

}  // namespace

void heddle_description_options_init(heddle_description_options* options, size_t size) {
  init_struct(options, size, default_description_options);
}

heddle_status heddle_matrix_describe(const heddle_matrix* matrix,
                                     const heddle_description_options* given, char* buffer,
                                     size_t capacity, size_t* length) {
  return guarded_by(matrix, [&] {
    const auto c = read_struct(given, default_description_options, "heddle_description_options");
    const Device device = device_named(c.device, c.threads);
    const auto json = to_json(detail::describe(matrix->matrix, options_of(c), device));
    const std::size_t size = copy_text(
        json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace), buffer, capacity);
    if (length != nullptr) *length = size;
  });
}

heddle_status heddle_matrix_best_ranks(const heddle_matrix* matrix,
                                       const heddle_description_options* given, int32_t* ranks) {
  return guarded_by(matrix, [&] {
    const auto c = read_struct(given, default_description_options, "heddle_description_options");
    if (c.scaling == nullptr) throw Error(ErrorKind::usage, "scaling names no network");
    const Device device = device_named(c.device, c.threads);
    constexpr int no_flops = 0;  // the time of an iteration is that of its bytes
    required(ranks, "ranks") =
        detail::predict_scaling(matrix->matrix, question_of(c), no_flops, device).best;
  });
}

heddle_status heddle_operator_measure(const heddle_operator* A, int32_t repetitions, int32_t cold,
                                      int32_t triad, heddle_product_times* times) {
  return guarded_by(A, [&] {
    known_size(required(times, "times"), "heddle_product_times");
    constexpr std::int32_t most = 100000;
    if (repetitions < 1 || repetitions > most) {
      throw Error(ErrorKind::usage, "the repetitions are 1 to " + std::to_string(most));
    }
    const OperatorParts* stored = A->parts.get();
    while (stored->made_of != nullptr) stored = stored->made_of.get();
    if (stored->ranks || (!stored->stored && !stored->entries)) {
      throw Error(ErrorKind::unsupported,
                  "products of a stored matrix are measured, of one process");
    }
    const Device device = A->parts->device();
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    heddle_product_times told{0, 0, 0, 0, none, none, none, 0, none};
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
      told.lower_quartile = warm[0].lower_quartile;
      told.median = warm[0].median;
      told.upper_quartile = warm[0].upper_quartile;
      told.moved_bytes = matrix->bytes_of_product();
      if (limit) told.triad_bandwidth = static_cast<double>(limit->bytes()) / warm[1].median;
      if (cold == 0) return;
      const Timing of_cold = measure_cold({works.front()}, repetitions, device)[0];
      told.cold_lower_quartile = of_cold.lower_quartile;
      told.cold_median = of_cold.median;
      told.cold_upper_quartile = of_cold.upper_quartile;
    });
    write_struct(times, told, "heddle_product_times");
  });
}
