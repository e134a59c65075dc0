// Profiles as JSON: written with a fixed order of keys, read with every fault named by its path.
#include <algorithm>
#include <initializer_list>
#include <set>
#include <tuple>

#include "device_json.hpp"
#include "heddle/tuning/profile.hpp"
#include "matrix/definitions/json_object.hpp"
#include "matrix/definitions/strict_json.hpp"
#include "multigrid_json.hpp"

namespace heddle {

namespace {

using detail::JsonObject;
using detail::refuse_json;
using namespace profile_json;
using profile_json::written;  // in addition to those below
using json = nlohmann::ordered_json;

constexpr int max_levels = 6;  // nesting of the format

// ---- writing ----

json written(const ProfileRecord& record) {
  return {{"matrix", text(record.matrix)},
          {"entry", text(record.entry)},
          {"precision", text(record.precision)},
          {"structure", text(record.structure)},
          {"objective", name(record.objective)},
          {"fingerprint", text(record.fingerprint)},
          {"features", written(record.features)},
          {"plan", to_string(record.plan)},
          {"seconds", written(record.seconds)},
          {"memory_ratio", number(record.memory_ratio, "a memory ratio")},
          {"natural", to_string(record.natural)},
          {"natural_seconds", written(record.natural_seconds)},
          {"speedup", record.speedup ? number(*record.speedup, "a speed-up") : json()},
          {"search", text(record.search)},
          {"date", text(record.date)}};
}

json written(const DomainRecord& domain) {
  json fingerprints = json::array();
  for (const std::string& fingerprint : domain.fingerprints) {
    fingerprints.push_back(text(fingerprint));
  }
  json object = {
      {"domain", text(domain.domain)},          {"entry", text(domain.entry)},
      {"precision", text(domain.precision)},    {"objective", name(domain.objective)},
      {"plan", to_string(domain.plan)},         {"regret", number(domain.regret, "a regret")},
      {"fingerprints", std::move(fingerprints)}};
  // Left out where they equal their defaults, so that readers that do not know them can go on.
  if (domain.use != DomainUse::plan) object["use"] = name(domain.use);
  if (!domain.left_out.empty()) {
    json& left_out = object["left_out"] = json::array();
    for (const double loss : domain.left_out) left_out.push_back(number(loss, "a loss"));
  }
  return object;
}

json written(const TreeRecord& tree) {
  json sizes = json::array();
  for (const NodeTrial& size : tree.sizes) {
    json object = {
        {"node", size.nodes.size},
        {"bytes", size.bytes},
        {"product", written(size.product)},
        {"adjoint_product", size.adjoint_product ? written(*size.adjoint_product) : json()}};
    if (size.nodes.dense != NodeLayout::by_bytes) object["dense"] = size.nodes.dense;
    if (size.nodes.launch != TreeLaunch()) object["launch"] = to_string(size.nodes.launch);
    if (size.schedule == NodeSchedule::tree) object["schedule"] = "tree";
    if (size.iteration) object["iteration"] = written(*size.iteration);
    sizes.push_back(std::move(object));
  }
  return {{"matrix", text(tree.matrix)},
          {"entry", text(tree.entry)},
          {"precision", text(tree.precision)},
          {"fingerprint", text(tree.fingerprint)},
          {"features", written(tree.features)},
          {"sizes", std::move(sizes)},
          {"date", text(tree.date)}};
}

template <class T, class Key>
json sorted(const std::vector<T>& records, Key&& key) {
  std::vector<const T*> order;
  order.reserve(records.size());
  for (const T& record : records) order.push_back(&record);
  std::stable_sort(order.begin(), order.end(),
                   [&](const T* a, const T* b) { return key(*a) < key(*b); });
  json array = json::array();
  for (const T* record : order) array.push_back(written(*record));
  return array;
}

// ---- reading ----

/// A text that does not parse may come from a newer Heddle.
template <class Parse>
auto parsed(const JsonObject& object, const char* key, const Parse& parse) {
  const std::string text = object.text(key);
  try {
    return parse(text);
  } catch (const Error& error) {
    std::string message = error.what();
    constexpr std::string_view prefix = "plan: ";
    if (message.starts_with(prefix)) message.erase(0, prefix.size());
    for (char& c : message) c = c >= ' ' && c <= '~' ? c : '?';
    constexpr std::size_t longest = 300;
    if (message.size() > longest) message = message.substr(0, longest) + "...";
    throw OtherVersion(object.path_of(key) + ": " + message);
  }
}

Plan plan_of(const JsonObject& object, const char* key) {
  return parsed(object, key, [](const std::string& text) { return parse_plan(text); });
}
TreeLaunch launch_of(const JsonObject& object, const char* key) {
  return parsed(object, key, parse_tree_launch);
}

Objective objective_of(const JsonObject& object) {
  return parse_objective(object.text_of("objective", objective_names()));
}

ProfileRecord read_record(const JsonObject& object) {
  object.check_keys({"matrix", "entry", "precision", "structure", "objective", "fingerprint",
                     "features", "plan", "seconds", "memory_ratio", "natural", "natural_seconds",
                     "speedup", "search", "date"});
  ProfileRecord record;
  record.matrix = object.text("matrix");
  record.entry = name_of(object, "entry");
  record.precision = object.text_of("precision", {"single", "double"});
  record.structure = object.text_of("structure", {"sliced"});
  record.objective = objective_of(object);
  record.fingerprint = object.text("fingerprint");
  check_fingerprint(record.fingerprint, object.path_of("fingerprint"));
  record.features = read_features(object.object("features"));
  record.plan = plan_of(object, "plan");
  record.seconds = read_statistics(object.object("seconds"));
  record.memory_ratio = object.number("memory_ratio");
  record.natural = plan_of(object, "natural");
  record.natural_seconds = read_statistics(object.object("natural_seconds"));
  if (!object.at("speedup").is_null()) record.speedup = object.number("speedup");
  record.search = object.text_of("search", {"full", "pruned", "predict"});
  record.date = date_of(object);
  return record;
}

DomainRecord read_domain(const JsonObject& object) {
  object.check_keys({"domain", "entry", "precision", "objective", "plan", "use", "regret",
                     "fingerprints", "left_out"});
  DomainRecord domain;
  domain.domain = name_of(object, "domain");
  domain.entry = name_of(object, "entry");
  domain.precision = object.text_of("precision", {"single", "double"});
  domain.objective = objective_of(object);
  domain.plan = plan_of(object, "plan");
  if (object.has("use")) {
    domain.use = parse_domain_use(object.text_of("use", {"plan", "storage", "order", "predicted"}));
  }
  domain.regret = object.number("regret");
  domain.fingerprints = object.texts("fingerprints");
  for (std::size_t i = 0; i < domain.fingerprints.size(); ++i) {
    check_fingerprint(domain.fingerprints[i], object.path_of("fingerprints", i));
  }
  if (object.has("left_out")) domain.left_out = object.numbers("left_out");
  if (!domain.left_out.empty() && domain.left_out.size() != domain.fingerprints.size()) {
    refuse_json(object.path_of("left_out"), "must be empty or as long as fingerprints");
  }
  return domain;
}

NodeTrial read_size(const JsonObject& object) {
  object.check_keys(
      {"node", "dense", "launch", "bytes", "product", "adjoint_product", "schedule", "iteration"});
  NodeTrial size;
  constexpr long long largest = 256;
  const int node = static_cast<int>(object.count("node", largest));
  if (node < 4 || (node & (node - 1)) != 0) {
    refuse_json(object.path_of("node"), "must be 4, 8, ..., 256");
  }
  size.nodes.size = node;
  if (object.has("dense")) {
    size.nodes.dense = static_cast<int>(object.count("dense", NodeLayout::never));
  }
  if (object.has("launch")) {
    size.nodes.launch = launch_of(object, "launch");
    if (size.nodes.launch == TreeLaunch()) {
      refuse_json(object.path_of("launch"), "must not be empty");
    }
  }
  size.bytes = object.count("bytes");
  size.product = read_statistics(object.object("product"));
  if (!object.at("adjoint_product").is_null()) {
    size.adjoint_product = read_statistics(object.object("adjoint_product"));
  }
  if (object.has("schedule")) {
    object.text_of("schedule", {"tree"});
    size.schedule = NodeSchedule::tree;
  }
  if (object.has("iteration")) size.iteration = read_statistics(object.object("iteration"));
  return size;
}

TreeRecord read_tree(const JsonObject& object) {
  object.check_keys({"matrix", "entry", "precision", "fingerprint", "features", "sizes", "date"});
  TreeRecord tree;
  tree.matrix = object.text("matrix");
  tree.entry = name_of(object, "entry");
  tree.precision = object.text_of("precision", {"single", "double"});
  tree.fingerprint = object.text("fingerprint");
  check_fingerprint(tree.fingerprint, object.path_of("fingerprint"));
  tree.features = read_features(object.object("features"));
  tree.sizes = object.objects("sizes", read_size);
  if (tree.sizes.empty()) refuse_json(object.path_of("sizes"), "must not be empty");
  tree.date = date_of(object);
  return tree;
}

/// A domain is near a matrix if one of its records is, so all of its records must be present.
void check_domains(const Profile& profile) {
  std::set<std::tuple<std::string, std::string, std::string>> known;
  for (const ProfileRecord& r : profile.records) {
    known.emplace(r.fingerprint, r.entry, r.precision);
  }
  for (std::size_t d = 0; d < profile.domains.size(); ++d) {
    const DomainRecord& domain = profile.domains[d];
    for (std::size_t i = 0; i < domain.fingerprints.size(); ++i) {
      if (known.contains({domain.fingerprints[i], domain.entry, domain.precision})) continue;
      refuse_json("domains[" + std::to_string(d) + "].fingerprints[" + std::to_string(i) + "]",
                  "no record of this entry and precision has it");
    }
  }
}

Profile read_profile(const JsonObject& object) {
  // Checked before anything else: another schema may have any keys.
  const long long version = object.count("schema");
  if (version != Profile::schema) {
    throw OtherVersion("schema: " + std::to_string(version) + " is " +
                       (version > Profile::schema ? "newer" : "older") + " than " +
                       std::to_string(Profile::schema) + ", the one that is known here");
  }
  object.check_keys({"schema", "version", "kernels", "device", "ceilings", "records", "domains",
                     "trees", "multigrids"});
  Profile profile;
  profile.version = object.text("version");
  profile.kernels = object.text("kernels");
  profile.device = read_device(object.object("device"));
  profile.ceilings = read_ceilings(object.object("ceilings"));
  profile.records = object.objects("records", read_record);
  profile.domains = object.objects("domains", read_domain);
  if (object.has("trees")) profile.trees = object.objects("trees", read_tree);
  if (object.has("multigrids")) profile.multigrids = object.objects("multigrids", read_multigrid);
  check_domains(profile);
  return profile;
}

}  // namespace

std::string Profile::to_json() const {
  json object = {{"schema", schema},
                 {"version", text(version)},
                 {"kernels", text(kernels)},
                 {"device", written(device)},
                 {"ceilings", written(ceilings)}};
  object["records"] = sorted(records, [](const ProfileRecord& r) {
    return std::tie(r.entry, r.precision, r.objective, r.matrix, r.fingerprint);
  });
  object["domains"] = sorted(domains, [](const DomainRecord& d) {
    return std::tie(d.entry, d.precision, d.objective, d.domain);
  });
  // Left out where empty, so that readers that do not know these keys can go on.
  if (!trees.empty()) {
    object["trees"] = sorted(trees, [](const TreeRecord& t) {
      return std::tie(t.entry, t.precision, t.matrix, t.fingerprint);
    });
  }
  if (!multigrids.empty()) {
    object["multigrids"] = sorted(multigrids, [](const MultigridRecord& m) {
      return std::tie(m.entry, m.precision, m.matrix, m.candidates, m.fingerprint);
    });
  }
  return object.dump(1) + "\n";
}

Profile Profile::from_json(std::string_view json, const std::string& source) {
  try {
    const nlohmann::json parsed = detail::parse_strict_json(json, max_levels);
    return read_profile(JsonObject(parsed, ""));
  } catch (const OtherVersion& error) {
    throw OtherVersion(source + ": " + error.what());
  } catch (const Error& error) {
    throw Error(ErrorKind::bad_plan, source + ": " + error.what());
  }
}

}  // namespace heddle
