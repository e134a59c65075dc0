// Contexts, the configuration, and the names of numbers.
#include "description/configuration.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "heddle/expansion.hpp"
#include "heddle/report.hpp"
#include "heddle/version.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

heddle_status heddle_context_create(heddle_context** context) {
  if (context == nullptr) return refuse_without_context(__func__, "context is a null pointer");
  return guarded(nullptr, [&] { *context = new heddle_context; });
}

void heddle_context_destroy(heddle_context** context) { destroy(context); }

size_t heddle_message(const heddle_context* context, char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded(nullptr, [&] {
    length =
        copy_text(context == nullptr ? message_without_context().line : context->messages->last(),
                  buffer, capacity);
  });
  return length;
}

const char* heddle_version(void) { return version; }

size_t heddle_configuration(char* buffer, size_t capacity) {
  std::size_t length = 0;
  guarded(nullptr, [&] { length = copy_text(detail::configuration(), buffer, capacity); });
  return length;
}

const char* heddle_status_name(heddle_status status) {
  static constexpr const char* names[] = {
      "ok",         "usage",    "malformed file", "size mismatch", "out of range",
      "not finite", "singular", "unsupported",    "bad plan",      "no device",
      "memory",     "io",       "internal",       "callback",      "busy"};
  static_assert(std::size(names) == HEDDLE_ERROR_BUSY + 1);
  const auto number = static_cast<unsigned>(status);
  return number < std::size(names) ? names[number] : nullptr;
}

// Names in the library are literals, which end in a zero.
const char* heddle_entry_name(heddle_entry entry) {
  const auto number = static_cast<unsigned>(entry);
  return number < entry_kind_names.size() ? entry_kind_names[number].data() : nullptr;
}

const char* heddle_outcome_name(heddle_outcome outcome) {
  static_assert(static_cast<int>(Status::not_symmetric) == HEDDLE_NOT_SYMMETRIC);
  const auto number = static_cast<unsigned>(outcome);
  return number <= HEDDLE_NOT_SYMMETRIC ? name(static_cast<Status>(number)).data() : nullptr;
}

heddle_status heddle_define_entry(heddle_context* context, const char* json, heddle_entry* entry,
                                  int32_t* entry_scalars, int32_t* row_scalars) {
  return guarded_by(context, [&] {
    heddle_entry& out = required(entry, "entry");
    const NamedEntry defined = context->definitions.define(&required(json, "json"));
    const EntryDefinition& definition = *defined.entry.definition();
    out = defined.number;
    if (entry_scalars != nullptr) *entry_scalars = definition.size();
    if (row_scalars != nullptr) *row_scalars = definition.vector_size();
  });
}

namespace {

struct Scalars {
  int entry = 0, row = 0;
};
Scalars scalars_of(heddle_entry entry) {
  if (heddle_entry_name(entry) == nullptr) return {};
  return visit_entry<double>(kind_of(entry), []<class E>() {
    return Scalars{E::components, vector_entry_t<E>::components};
  });
}

}  // namespace

int32_t heddle_entry_scalars(heddle_entry entry) { return scalars_of(entry).entry; }
int32_t heddle_row_scalars(heddle_entry entry) { return scalars_of(entry).row; }
