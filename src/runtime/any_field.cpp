#include "heddle/matrix_market.hpp"
#include "heddle/read.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "io/field_layout.hpp"

namespace heddle {

namespace {

AnyField read_rows(const std::string& path, int components, Ring ring, Precision precision,
                   const Device& device, Progress* progress) {
  const ScalarField file = read_scalar_field(path, Device::cpu(device.threads()), progress);
  const Index rows =
      detail::naming_file(path, [&] { return detail::rows_of_field(file, components, ring); });
  AnyField field(rows, components, precision, device);
  for (std::size_t i = 0; i < file.values.size(); ++i) {
    field.set(static_cast<Offset>(i), file.values[i]);
  }
  return field;
}

}  // namespace

void detail::refuse_precision(Precision given) {
  const Precision asked = given == Precision::single_precision ? Precision::double_precision
                                                               : Precision::single_precision;
  throw Error(ErrorKind::size_mismatch, std::string(name(asked)) +
                                            " precision was requested, but " +
                                            std::string(name(given)) + " precision is stored");
}

AnyField::AnyField(Index rows, int components, Precision precision, const Device& device)
    : components_(components) {
  detail::check_sizes(rows, components, nullptr);
  const auto scalars = static_cast<std::size_t>(rows) * static_cast<std::size_t>(components);
  const Device host = Device::cpu(device.threads());
  if (precision == Precision::single_precision) {
    scalars_ = Array<float>(scalars, host);
  } else {
    scalars_ = Array<double>(scalars, host);
  }
}

Index AnyField::rows() const {
  const std::size_t scalars = std::visit([](const auto& s) { return s.size(); }, scalars_);
  return static_cast<Index>(scalars / static_cast<std::size_t>(components_));
}

double AnyField::get(Offset scalar) const {
  return std::visit(
      [&](const auto& s) { return static_cast<double>(s[static_cast<std::size_t>(scalar)]); },
      scalars_);
}

void AnyField::set(Offset scalar, double value) {
  std::visit(
      [&](auto& s) {
        s[static_cast<std::size_t>(scalar)] = static_cast<std::decay_t<decltype(s[0])>>(value);
      },
      scalars_);
}

template <class S>
FieldView<S> AnyField::view() {
  return {detail::of_precision<Array<S>>(scalars_).data(), rows(), components_};
}
template <class S>
FieldView<const S> AnyField::view() const {
  return const_cast<AnyField*>(this)->view<S>();
}
template FieldView<float> AnyField::view();
template FieldView<double> AnyField::view();
template FieldView<const float> AnyField::view() const;
template FieldView<const double> AnyField::view() const;

AnyField AnyField::read(const std::string& path, const AnyEntry& entry, Precision precision,
                        const Device& device, Progress* progress) {
  if (const auto& definition = entry.definition()) {
    return read_rows(path, definition->vector_size(), definition->ring, precision, device,
                     progress);
  }
  return visit_entry(entry.kind(), precision, [&]<class E>() {
    return read_rows(path, vector_entry_t<E>::components, arithmetic_t<E>::ring, precision, device,
                     progress);
  });
}

void AnyField::write(const std::string& path, const AnyEntry& entry, Progress* progress) const {
  const bool is_complex = io::has_complex_fields(entry);
  const Offset scalars = Offset(rows()) * components_;
  Array<double> values(static_cast<std::size_t>(scalars));
  for (Offset i = 0; i < scalars; ++i) values[static_cast<std::size_t>(i)] = get(i);
  write_scalar_field(path, {rows(), components_ / (is_complex ? 2 : 1), is_complex, values.data()},
                     progress);
}

}  // namespace heddle
