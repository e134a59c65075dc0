#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "../../simulation/message_text.hpp"
#include "heddle/error.hpp"
#include "membrane_cells.hpp"
#include "model_parameters.hpp"

namespace heddle::heart {

namespace {

/// Calls `row(M())` for each model M of the table.
template <class Row>
void for_each_model(const Row& row) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    (row(std::variant_alternative_t<k, AnyModel>()), ...);
  }(std::make_index_sequence<std::variant_size_v<AnyModel>>());
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

std::string quoted(const std::string& word) { return '"' + simulation::printable(word) + '"'; }

/// Rejects a value for which the model has no meaning.
void check_sign(double value, Sign sign, const std::string& parameter) {
  const bool holds = sign == Sign::positive ? value > 0 : sign == Sign::any || value >= 0;
  if (!std::isfinite(value)) throw Error(ErrorKind::not_finite, parameter + " is not finite");
  if (!holds) {
    throw Error(ErrorKind::usage, parameter + " is " + simulation::shortest(value) +
                                      "; it must be " +
                                      (sign == Sign::positive ? "above 0" : "at least 0"));
  }
}

/// The model of the chosen type, with its own parameters.
template <class M>
M of_type(const MembraneChoice& choice) {
  if (choice.type.empty()) return M::of_type(0);
  const auto at = std::find(M::types.begin(), M::types.end(), choice.type);
  if (at == M::types.end()) {
    throw Error(ErrorKind::usage, std::string(M::name) + " has no cells of type " +
                                      quoted(choice.type) +
                                      "; there are: " + joined({M::types.begin(), M::types.end()}));
  }
  return M::of_type(static_cast<int>(at - M::types.begin()));
}

template <class M>
M chosen(const MembraneChoice& choice) {
  const std::string name(M::name);
  M model = of_type<M>(choice);
  for (const auto& [word, value] : choice.parameters) {
    const auto at = std::find_if(M::parameters.begin(), M::parameters.end(),
                                 [&](const Parameter<M>& p) { return p.name == word; });
    if (at == M::parameters.end()) {
      std::vector<std::string> known;
      known.reserve(M::parameters.size());
      for (const Parameter<M>& p : M::parameters) known.emplace_back(p.name);
      throw Error(ErrorKind::usage,
                  name + " has no parameter " + quoted(word) + "; there are: " + joined(known));
    }
    check_sign(value, at->sign, std::string("the parameter ").append(word) + " of " + name);
    model.*at->value = value;
  }
  if constexpr (requires { model.prepare(); }) model.prepare();
  return model;
}

template <class M>
KnownParameter known(const Parameter<M>& parameter, const M& model) {
  KnownParameter found{.name = std::string(parameter.name),
                       .unit = std::string(parameter.unit),
                       .own = model.*parameter.value,
                       .least = parameter.least,
                       .most = parameter.most};
  if (found.least == 0 && found.most == 0) {
    found.least = found.own / 10;
    found.most = found.own * 10;
    found.may_be_zero = parameter.sign != Sign::positive;
  }
  return found;
}

}  // namespace

std::vector<KnownParameter> parameters_of(const MembraneChoice& choice) {
  std::vector<KnownParameter> all;
  for_each_model([&]<class M>(const M&) {
    if (choice.model != M::name) return;
    const M model = of_type<M>(choice);
    for (const Parameter<M>& parameter : M::parameters) all.push_back(known(parameter, model));
  });
  return all;
}

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for_each_model([&]<class M>(const M&) { names.emplace_back(M::name); });
  return names;
}

AnyModel model_of(const MembraneChoice& choice) {
  std::optional<AnyModel> model;
  for_each_model([&]<class M>(const M&) {
    if (choice.model == M::name) model = chosen<M>(choice);
  });
  if (!model) {
    throw Error(ErrorKind::usage, "there is no membrane model " + quoted(choice.model) +
                                      "; there are: " + joined(model_names()));
  }
  return *model;
}

}  // namespace heddle::heart
