// Settings of heddle.h for Python: texts by name, and the arrays of multigrid.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "call.hpp"
#include "gpu_arrays.hpp"
#include "heddle.h"

namespace heddle_python {

/// A view of each vector of an array that has several, one after the other.
template <class A>
std::vector<heddle_view> rows_of(const A& vectors, std::int64_t rows, heddle_entry entry,
                                 heddle_precision precision) {
  std::vector<heddle_view> views;
  const auto count = static_cast<std::size_t>(vectors.shape(0));
  const std::size_t bytes = count == 0 ? 0 : vectors.nbytes() / count;
  const auto first = reinterpret_cast<std::uintptr_t>(vectors.data());
  for (std::size_t k = 0; k < count; ++k) {
    views.push_back(view_at({first + k * bytes, false}, rows, entry, precision));
  }
  return views;
}

/// Only the library knows the meaning of a name, so that a new setting needs nothing here. Only one
/// call at a time may use an object: the call writes its observer and the addresses of its arrays
/// to it.
class Settings {
 public:
  explicit Settings(const nb::dict& texts) : context_(std::make_shared<Context>()) {
    heddle_settings* made = nullptr;
    if (heddle_settings_create(context_->own, &made) != HEDDLE_OK) throw std::bad_alloc();
    own_.reset(made);
    for (const auto& [name, text] : texts) set(plain(name), plain(text));
  }
  /// A lone surrogate has no UTF-8.
  static std::string plain(nb::handle text) {
    try {
      return nb::cast<std::string>(text);
    } catch (const std::exception&) {
      raise(HEDDLE_ERROR_USAGE, "a name or a value of a setting is no text of Unicode");
    }
  }
  void set(const std::string& name, const std::string& text) {
    check(context_, heddle_settings_set(get(), c_text(name), c_text(text)));
  }
  /// Sets the arrays for multigrid; each candidate is a row of its array.
  void use_arrays(std::optional<Contiguous> coordinates, std::optional<Contiguous> candidates) {
    coordinates_ = std::move(coordinates);
    candidates_ = std::move(candidates);
  }

  heddle_settings* get() const { return own_.get(); }
  std::string json() const {
    return text_of(
        [&](char* to, std::size_t capacity) { return heddle_settings_json(get(), to, capacity); });
  }

  const double* coordinates() const {
    return coordinates_ ? static_cast<const double*>(coordinates_->data()) : nullptr;
  }
  std::vector<heddle_view> candidates(std::int64_t rows, heddle_entry entry,
                                      heddle_precision precision) const {
    return candidates_ ? rows_of(*candidates_, rows, entry, precision) : std::vector<heddle_view>();
  }
  /// Passes the arrays to the library, for an operator with `rows` rows.
  void point_to_arrays(std::int64_t rows, heddle_entry entry, heddle_precision precision) const {
    const auto fields = candidates(rows, entry, precision);
    const auto count = static_cast<std::int64_t>(fields.size());
    check(context_, heddle_settings_use_coordinates(get(), coordinates()));
    check(context_, heddle_settings_use_candidates(get(), count, fields.data()));
  }

 private:
  struct Destroy {
    void operator()(heddle_settings* settings) const { heddle_settings_destroy(&settings); }
  };

  SharedContext context_;
  std::unique_ptr<heddle_settings, Destroy> own_;
  std::optional<Contiguous> coordinates_, candidates_;
};

}  // namespace heddle_python
