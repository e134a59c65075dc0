#include "storage_option.hpp"

#include <algorithm>
#include <optional>

#include "any_case.hpp"
#include "heddle/error.hpp"
#include "setting_options.hpp"

namespace heddle::cli {

void NodeOption::add_to(CLI::App& command) {
  add_settings(command, SettingUse::storage, {"node", "dense"}, settings);
}

void NodeOption::add_launch_to(CLI::App& command) {
  add_settings(command, SettingUse::storage, {"launch"}, settings);
}

void StorageOption::add_to(CLI::App& command) {
  command
      .add_option(
          "--storage", storage,
          "sliced, which follows a plan, or hisparse, a tree of small nodes; "
          "hisparse,schedule=tree schedules each product while it runs, and adds in another "
          "order in each run; see docs/guide/hierarchical.md")
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME");
  node.add_to(command);
  node.add_launch_to(command);
  for (const char* const option : {"--storage", "--node", "--dense", "--launch"}) {
    command.get_option(option)->group("storage");
  }
}

bool StorageOption::is_hierarchical() const {
  if (storage == "hisparse" || is_dynamic()) return true;
  if (storage == "sliced") return false;
  throw Error(ErrorKind::usage,
              "--storage must be sliced, hisparse or " + std::string(dynamic) + ", not " + storage);
}

void StorageOption::check_use(const std::vector<std::string>& plans,
                              const ProfileOption& profile) const {
  if (!is_hierarchical()) {
    if (node.is_given()) {
      throw Error(
          ErrorKind::usage,
          "--node, --dense and --launch are for --storage hisparse, not for sliced storage");
    }
    return profile.check_use(plans);
  }
  const NodeLayout nodes = node.nodes();  // refuses an invalid one before a file is read
  if (is_dynamic() && nodes.launch != TreeLaunch()) {
    throw Error(ErrorKind::usage, "--launch is for the kept schedule, not for schedule=tree");
  }
  const bool has_plan = std::ranges::any_of(plans, [](const auto& plan) { return !plan.empty(); });
  if (has_plan) return profile.check_use(plans);
  if (profile.is_given() && node.is_given()) {
    throw Error(
        ErrorKind::usage,
        "--profile chooses the nodes of a tree, and --node, --dense or --launch names them: "
        "give one of them");
  }
}

NodeChoice StorageOption::choose(const AnyMatrix& matrix, const Device& device,
                                 const ProfileOption& profile, TreeUse use) const {
  if (node.is_given()) {
    const NodeLayout nodes = node.nodes();
    if (nodes.launch != TreeLaunch() && !device.on_gpu()) {
      throw Error(ErrorKind::usage, "--launch is for products on a GPU, not on a CPU");
    }
    return {nodes, node.reason(), is_dynamic() ? NodeSchedule::tree : NodeSchedule::kept};
  }
  std::optional<NodeSchedule> schedule;
  if (matrix.is_defined()) schedule = NodeSchedule::kept;
  if (is_dynamic()) schedule = NodeSchedule::tree;
  return profile.profiles_for({""}, device).choose_node(subject_of(matrix), device, use, schedule);
}

StoredTree StorageOption::store_as_tree(const AnyMatrix& matrix, const NodeChoice& choice,
                                        const Device& device) {
  if (matrix.is_defined() && choice.schedule == NodeSchedule::tree) {
    throw Error(ErrorKind::unsupported, std::string(dynamic) +
                                            " supports only the entries of --entry; use "
                                            "--storage hisparse for those of a definition");
  }
  return stored_tree(matrix, choice.nodes, choice.schedule, device);
}

std::string StorageOption::text_of(const NodeChoice& choice) {
  return "hisparse," + to_string(choice.nodes) +
         (choice.schedule == NodeSchedule::tree ? ",schedule=tree" : "");
}

std::string StorageOption::reason_of(const NodeChoice& choice) {
  return choice.reason +
         (choice.schedule == NodeSchedule::tree ? "; adds in another order in each run" : "");
}

}  // namespace heddle::cli
