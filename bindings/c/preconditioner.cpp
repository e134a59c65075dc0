// Preconditioners of heddle.h, by name and by callback.
#include <memory>
#include <string>
#include <utility>

#include "callback_operator.hpp"
#include "guard.hpp"
#include "handles.hpp"
#include "multigrid_settings.hpp"
#include "ranks.hpp"
#include "runtime/make_preconditioner.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

heddle_preconditioner* named_preconditioner(const heddle_operator* A,
                                            const ComposedChoice& choice) {
  const OperatorParts& parts = *A->parts;
  PreconditionerParts made;
  const auto make = [&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
    made.made = make_preconditioner<S>(matrix, choice);
  };
  on_all_ranks(parts, [&] { parts.matrix.visit(make); });
  made.choice = choice;
  return new heddle_preconditioner{A->messages, A->parts, std::move(made)};
}

}  // namespace

heddle_status heddle_preconditioner_create(const heddle_operator* A, const char* text,
                                           const heddle_settings* settings,
                                           heddle_preconditioner** result) {
  return guarded_by(A, [&] {
    heddle_preconditioner*& out = required(result, "result");
    ComposedChoice choice = ComposedChoice::parse(&required(text, "text"));
    const std::string setting = first_of_multigrid(settings);
    if (!setting.empty()) {
      if (!choice.has(PreconditionerKind::multigrid)) {
        throw Error(ErrorKind::usage,
                    setting + " is for the preconditioner multigrid, not for " + choice.text());
      }
      const OperatorParts& parts = *A->parts;
      choice.multigrid =
          choice_by_settings(settings, choice.multigrid, parts.entry,
                             parts.rows_of_all.value_or(parts.matrix.rows()), parts.precision());
    }
    out = named_preconditioner(A, choice);
  });
}

heddle_status heddle_preconditioner_from_callback(const heddle_operator* A, heddle_apply apply,
                                                  void* user, int32_t varies,
                                                  heddle_preconditioner** result) {
  return guarded_by(A, [&] {
    heddle_preconditioner*& out = required(result, "result");
    if (apply == nullptr) throw Error(ErrorKind::usage, "apply is a null pointer");
    const Callback callback{apply, user, A->parts->entry, "preconditioner",
                            location_on(A->parts->device())};
    PreconditionerParts made;
    A->parts->matrix.visit([&]<class S>(const std::shared_ptr<const LinearOperator<S>>& matrix) {
      made.made = SharedPreconditioner<S>(
          std::make_shared<CallbackPreconditioner<S>>(*matrix, callback, varies != 0));
    });
    out = new heddle_preconditioner{A->messages, A->parts, std::move(made)};
  });
}

void heddle_preconditioner_destroy(heddle_preconditioner** preconditioner) {
  destroy(preconditioner);
}
