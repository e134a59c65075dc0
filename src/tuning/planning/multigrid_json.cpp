#include "multigrid_json.hpp"

#include <string>

#include "device_json.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle::profile_json {

using detail::JsonObject;
using detail::refuse_json;
using json = nlohmann::ordered_json;

namespace {

/// A single multigrid alone, and no K-cycle: the settings are for conjugate gradient, which refuses
/// preconditioners that vary.
std::string multigrid_of(const JsonObject& object) {
  const std::string text = object.text("preconditioner");
  try {
    const ComposedChoice choice = ComposedChoice::parse(text);
    if (choice.terms().size() == 1 && choice.terms().front().size() == 1 &&
        choice.has(PreconditionerKind::multigrid) && !choice.varies()) {
      return text;
    }
  } catch (const Error&) {  // refused below
  }
  refuse_json(object.path_of("preconditioner"),
              "must be multigrid, as --preconditioner takes it, without a K-cycle");
}

}  // namespace

json written(const MultigridRecord& record) {
  return {{"matrix", text(record.matrix)},
          {"entry", text(record.entry)},
          {"precision", text(record.precision)},
          {"fingerprint", text(record.fingerprint)},
          {"features", written(record.features)},
          {"candidates", text(record.candidates)},
          {"preconditioner", text(record.preconditioner)},
          {"strength", number(record.strength, "a strength")},
          {"iterations", record.iterations},
          {"seconds", written(record.seconds)},
          {"usual_seconds", written(record.usual_seconds)},
          {"date", text(record.date)}};
}

MultigridRecord read_multigrid(const JsonObject& object) {
  object.check_keys({"matrix", "entry", "precision", "fingerprint", "features", "candidates",
                     "preconditioner", "strength", "iterations", "seconds", "usual_seconds",
                     "date"});
  MultigridRecord record;
  record.matrix = object.text("matrix");
  record.entry = name_of(object, "entry");
  record.precision = object.text_of("precision", {"single", "double"});
  record.fingerprint = object.text("fingerprint");
  check_fingerprint(record.fingerprint, object.path_of("fingerprint"));
  record.features = read_features(object.object("features"));
  record.candidates = object.text_of("candidates", {"constant", "rigid-body", "adaptive", "given"});
  record.preconditioner = multigrid_of(object);
  record.strength = object.number("strength");
  if (record.strength >= 1) refuse_json(object.path_of("strength"), "must be below 1");
  record.iterations = object.count("iterations");
  record.seconds = read_statistics(object.object("seconds"));
  record.usual_seconds = read_statistics(object.object("usual_seconds"));
  record.date = date_of(object);
  return record;
}

}  // namespace heddle::profile_json
