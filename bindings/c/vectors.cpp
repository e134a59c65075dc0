// Vectors in files, for heddle.h.
#include <string>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/read.hpp"
#include "io/field_layout.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// Calls `f(S(), entry, precision)` for a view with numbers of type S.
template <class F>
void with_scalar(const heddle_context& context, const heddle_view& x, const F& f) {
  const NamedEntry entry = context.definitions.find(x.entry);
  const Precision precision = precision_of(x.precision);
  if (precision == Precision::double_precision) return f(double(), entry, precision);
  f(float(), entry, precision);
}

template <class From, class To>
void copy_field(const From& from, const To& to) {
  for (Index i = 0; i < from.size; ++i) {
    for (int c = 0; c < from.components; ++c) to.at(i, c) = from.at(i, c);
  }
}

/// Copies the only field of a table.
template <class To>
void copy_table(const ScalarField& table, const io::FieldLayout& layout, const To& to) {
  using S = std::remove_reference_t<decltype(to.at(0, 0))>;
  for (Index i = 0; i < to.size; ++i) {
    for (int c = 0; c < to.components; ++c)
      to.at(i, c) = static_cast<S>(layout.get(table, 0, i, c));
  }
}

}  // namespace

heddle_status heddle_vector_read(heddle_context* context, const char* path, const heddle_view* x) {
  return guarded_by(context, [&] {
    const std::string name = &required(path, "path");
    with_scalar(*context, required(x, "x"), [&]<class S>(S, const auto& entry, Precision) {
      const FieldView<S> to = field_of<S>(x, entry, entry.row_scalars(), {}, "x");
      const ScalarField table = read_scalar_field(name);
      const io::FieldRow row = io::field_row_of(entry.entry);
      detail::naming_file(name, [&] {
        const auto layout = io::FieldLayout::find(table, checked_index(to.size), row, 1);
        if (layout) return copy_table(table, *layout, to);
        const Index rows = detail::rows_of_field(table, row.components, row.ring);
        throw Error(ErrorKind::size_mismatch,
                    "has " + std::to_string(rows) + " rows, but x has " + std::to_string(to.size));
      });
    });
  });
}

heddle_status heddle_vector_write(heddle_context* context, const heddle_view* x, const char* path) {
  return guarded_by(context, [&] {
    const std::string name = &required(path, "path");
    with_scalar(
        *context, required(x, "x"), [&]<class S>(S, const auto& entry, Precision precision) {
          const FieldView<const S> from = field_of<const S>(x, entry, entry.row_scalars(), {}, "x");
          AnyField file(checked_index(from.size), from.components, precision, Device::cpu());
          copy_field(from, file.view<S>());
          file.write(name, entry.entry);
        });
  });
}
