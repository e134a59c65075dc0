#include "exchange_choice.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

namespace heddle::detail {

namespace {

std::string in_microseconds(double seconds) {
  return std::to_string(std::llround(seconds * 1e6)) + " us";
}

/// The same number on every rank of a host.
long long number_of_host() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return 0;
  return static_cast<long long>(std::hash<std::string_view>()(name.data()));
}

std::vector<long long> hosts_of(Communicator& ranks) {
  return gather(ranks, ranks.is_one_process() ? 0 : number_of_host());
}

}  // namespace

ExchangeChoice choose_exchange(const ScalingModel& model, const std::vector<RankVolume>& volumes) {
  const ScalingPoint point = model.predict(volumes, 0);
  if (point.exchange == 0) return {ExchangeMode::vector, "ranks exchange nothing"};
  const double concurrent = point.product_task + model.rates().kernel;
  const bool is_worth_it = concurrent < point.product_vector;
  return {is_worth_it ? ExchangeMode::task : ExchangeMode::vector,
          "a product is predicted to take " + in_microseconds(concurrent) +
              " with the exchange alongside it, " + in_microseconds(point.product_vector) +
              " with it afterwards"};
}

ExchangeChoice choose_exchange(Communicator& ranks) {
  const std::vector<long long> hosts = hosts_of(ranks);
  const bool is_one = std::all_of(hosts.begin(), hosts.end(),
                                  [&](long long host) { return host == hosts.front(); });
  if (is_one) {
    return {ExchangeMode::vector,
            "ranks on one host: the cores that would copy x during a product multiply instead"};
  }
  return {ExchangeMode::task, "ranks on several hosts: messages travel during the product"};
}

int place_on_host(Communicator& ranks) {
  const std::vector<long long> hosts = hosts_of(ranks);
  const auto own = hosts.begin() + ranks.rank();
  return static_cast<int>(std::count(hosts.begin(), own, *own));
}

}  // namespace heddle::detail
