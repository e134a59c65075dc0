// Tunes a tree's nodes: each size, share of places from which leaves are dense, schedule and, on a
// GPU, launch of the products is measured in turn with the default.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"
#include "stored_tree.hpp"
#include "tree_iterations.hpp"
#include "tuning/search/linear_work.hpp"
#include "tuning/search/race.hpp"
#include "tuning/search/random_numbers.hpp"
#include "tuning/search/reference_product.hpp"
#include "tuning/search/timed_runs.hpp"
#include "tuning/search/tuned_matrix.hpp"

namespace heddle {

namespace {

constexpr int min_node = 4, greatest_node = 256, number_of_sizes = 7;

/// Bounds of a launch's numbers in a search, and the approximate count of launches tried.
constexpr int max_warps = 8, min_piece = 256, greatest_piece = 16384, number_of_launches = 8;

/// A x and, where entries have an adjoint, A* x.
struct TreeInTrial {
  StoredTree tree;
  std::vector<std::unique_ptr<PreparedPlan>> products;
  std::vector<AnyField> x, results;
};

template <class S>
void add_product(std::shared_ptr<const LinearOperator<S>> A, TreeInTrial& trial) {
  const Device device = A->device();
  const long long bytes = A->bytes_of_product();
  const AnyLinearOperator any(trial.tree.matrix.entry(), A);
  trial.x.push_back(with_random_numbers(any.column_field()));
  trial.results.push_back(any.row_field());
  any.apply(trial.x.back(), trial.results.back());
  const auto work = std::make_shared<LinearWork<S>>(std::move(A), 1);
  trial.products.push_back(
      timed_runs([work](const Stream& stream) { work->run(stream); }, bytes, device));
}

TreeInTrial tree_in_trial(const AnyMatrix& matrix, const NodeLayout& nodes, NodeSchedule schedule,
                          const Device& device) {
  TreeInTrial trial{stored_tree(matrix, nodes, schedule, device), {}, {}, {}};
  trial.tree.matrix.visit([&](const auto& A) {
    add_product(A, trial);
    if (A->has_adjoint()) add_product(A->adjoint(), trial);
  });
  return trial;
}

class NodeSearch {
 public:
  NodeSearch(const AnyMatrix& matrix, const Device& device, const TuneOptions& options)
      : matrix_(matrix),
        device_(device),
        options_(options),
        effort_{options.min_runs, options.max_runs, options.confidence, options.tightness},
        began_(Clock::now()),
        sizes_(number_of_sizes * (matrix.is_defined() ? 1 : 2)) {}

  /// Returns the trials, smallest nodes first.
  std::vector<NodeTrial> run() {
    if (!try_default()) return {};
    try_from(default_node_size * 2, [](int node) { return node * 2; });
    try_from(default_node_size / 2, [](int node) { return node / 2; });
    if (!stopped_) {
      for (const NodeLayout& nodes : other_leaves()) {
        if (!goes_on()) break;
        try_nodes(nodes);
      }
    }
    if (device_.on_gpu()) {
      for (const TreeUse use : uses) try_launches(use);
    }
    if (!matrix_.is_defined()) try_schedules();
    std::ranges::sort(found_, {}, [](const NodeTrial& trial) {
      const auto& [size, dense, launch] = trial.nodes;
      return std::tuple(size, dense, launch.run, launch.warps, launch.piece, trial.schedule);
    });
    return std::move(found_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::array uses = {TreeUse::product, TreeUse::adjoint_product, TreeUse::both};

  bool goes_on() {
    TuneProgress progress;
    progress.tried = static_cast<int>(found_.size());
    progress.expected = std::max({sizes_, expected_, progress.tried});
    progress.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (progress.tried > 0) {
      progress.seconds_left =
          progress.seconds / progress.tried * (progress.expected - progress.tried);
    }
    if (!found_.empty() && progress.seconds > options_.seconds_limit) stopped_ = true;
    if (!stopped_ && options_.observer) stopped_ = !options_.observer(progress);
    return !stopped_;
  }

  void check(std::size_t k, const AnyField& y, const std::vector<double>& reference,
             const NodeLayout& nodes) const {
    const bool is_single = matrix_.precision() == Precision::single_precision;
    if (relative_difference(y, reference) <= (is_single ? 1e-5 : 1e-12)) return;
    throw Error(ErrorKind::internal, std::string(k == 0 ? "A x" : "A* x") + " of a tree with " +
                                         to_string(nodes) + " differs from the reference's");
  }

  void keep(const NodeLayout& nodes, NodeSchedule schedule, const StoredTree& tree,
            const std::vector<Measurement>& measured) {
    NodeTrial trial{nodes, tree.memory().total(), measured.front().seconds, {}, schedule};
    if (measured.size() > 1) trial.adjoint_product = measured[1].seconds;
    found_.push_back(trial);
    launches_.emplace_back(nodes.size, nodes.dense, tree.launch);
  }

  /// Returns false if cancelled before all products ran.
  bool try_default() {
    TreeInTrial usual = tree_in_trial(matrix_, default_node_size, NodeSchedule::kept, device_);
    check(0, usual.results.front(), reference_product(matrix_, usual.x.front()), default_node_size);
    for (const AnyField& result : usual.results) references_.push_back(numbers_of(result));
    std::vector<Measurement> measured;
    for (auto& product : usual.products) {
      races_.push_back(
          std::make_unique<Race>(std::move(product), effort_, [this] { return goes_on(); }));
      if (!races_.back()->reference()) return false;
      measured.push_back(*races_.back()->reference());
    }
    keep(default_node_size, NodeSchedule::kept, usual.tree, measured);
    return true;
  }

  /// Continues until every product takes half as long again as the fastest.
  template <class Next>
  void try_from(int node, const Next& next, NodeSchedule schedule = NodeSchedule::kept) {
    for (; node >= min_node && node <= greatest_node && goes_on(); node = next(node)) {
      if (!try_nodes(node, schedule)) return;
    }
  }

  /// None where there is no memory for it in addition to the default, or where a tree is beyond the
  /// bounds of schedule=tree.
  std::optional<TreeInTrial> tree_that_fits(const NodeLayout& nodes, NodeSchedule schedule) const {
    try {
      return tree_in_trial(matrix_, nodes, schedule, device_);
    } catch (const Error& error) {
      const bool is_beyond =
          error.kind() == ErrorKind::unsupported && schedule == NodeSchedule::tree;
      if (error.kind() != ErrorKind::memory && !is_beyond) throw;
    }
    return std::nullopt;
  }

  /// False where every product takes half as long again as the fastest, or the search has ended.
  bool try_nodes(const NodeLayout& nodes, NodeSchedule schedule = NodeSchedule::kept) {
    constexpr double far_slower = 1.5;
    std::optional<TreeInTrial> made = tree_that_fits(nodes, schedule);
    if (!made) return false;
    const bool is_kept = schedule == NodeSchedule::kept;
    if (is_kept && is_known({nodes.size, nodes.dense, made->tree.launch})) return false;
    TreeInTrial& trial = *made;
    std::vector<Measurement> measured;
    bool is_far_slower = true;
    for (std::size_t k = 0; k < trial.products.size(); ++k) {
      check(k, trial.results[k], references_[k], nodes);
      const double best = fastest(use_of(k)).seconds(use_of(k));
      const auto seconds = races_[k]->run(*trial.products[k], effort_, far_slower * best);
      if (!seconds) {
        stopped_ = true;
        return false;
      }
      measured.push_back(*seconds);
      is_far_slower = is_far_slower && seconds->seconds.median > far_slower * best;
    }
    keep(nodes, schedule, trial.tree, measured);
    return !is_far_slower;
  }

  /// The sizes again by schedule=tree, unless the default is far slower by it, and iterations where
  /// that is the fastest for A x.
  void try_schedules() {
    constexpr NodeSchedule tree = NodeSchedule::tree;
    expected_ = static_cast<int>(found_.size()) + number_of_sizes;
    if (!goes_on() || !try_nodes(default_node_size, tree)) return;
    try_from(default_node_size * 2, [](int node) { return node * 2; }, tree);
    try_from(default_node_size / 2, [](int node) { return node / 2; }, tree);
    TreeRecord all;
    all.sizes = found_;
    if (all.best(TreeUse::product, {}).schedule == tree) compare_iterations(all);
  }
  /// Times a solver over the best nodes for A x by each schedule: their loops on a GPU differ.
  void compare_iterations(const TreeRecord& all) {
    TreeIterations iterations(matrix_, device_);
    for (const NodeSchedule schedule : {NodeSchedule::kept, NodeSchedule::tree}) {
      if (!goes_on()) return;
      const NodeTrial& best = all.best(TreeUse::solve, schedule);
      const auto prepared = iterations.prepare(best.nodes, schedule);
      if (prepared == nullptr) return;
      const auto seconds = races_.front()->run(*prepared, effort_);
      if (!seconds) return;
      std::ranges::find(found_, best)->iteration = seconds->seconds;
    }
  }

  /// Nodes of the fastest sizes with other dense leaves, from half of their places on, or none;
  /// only where that changes the leaves.
  std::vector<NodeLayout> other_leaves() {
    std::vector<int> sizes;
    for (const TreeUse use : uses) {
      const int size = fastest(use).nodes.size;
      if (!std::ranges::count(sizes, size)) sizes.push_back(size);
    }
    std::vector<NodeLayout> layouts;
    for (const int size : sizes) {
      const auto dense_leaves = [&](const NodeLayout& nodes) {
        return hierarchical_memory(matrix_.pattern(), nodes, matrix_.entry_bytes(),
                                   Device::cpu(device_.threads()))
            .leaves.of_kind[static_cast<std::size_t>(NodeKind::dense)];
      };
      const long long usual = dense_leaves(size);
      for (const int dense : {50, NodeLayout::never}) {
        if (dense_leaves({size, dense}) != usual) layouts.emplace_back(size, dense);
      }
    }
    expected_ = static_cast<int>(found_.size() + layouts.size()) + sizes_ - number_of_sizes +
                (device_.on_gpu() ? number_of_launches : 0);
    return layouts;
  }

  /// Starts from the nodes that are fastest for a use: changes one number of the launch at a time,
  /// to half or twice as many, and continues while that gains.
  void try_launches(TreeUse use) {
    const int longest = device::longest_run(matrix_.entry_bytes());
    try_numbers(use, &TreeLaunch::warps, 1, max_warps);
    try_numbers(use, &TreeLaunch::piece, min_piece, greatest_piece);
    try_numbers(use, &TreeLaunch::run, 1, longest);
  }
  void try_numbers(TreeUse use, int TreeLaunch::* number, int least, int most) {
    const NodeTrial begin = fastest(use);
    const int usual = launches_[index_of(begin.nodes)].launch.*number;
    for (const bool doubles : {true, false}) {
      double best = begin.seconds(use);
      for (int next = usual; !stopped_;) {
        next = doubles ? 2 * next : next / 2;
        NodeLayout nodes = begin.nodes;
        nodes.launch.*number = next;
        NodeLayout in_full = launches_[index_of(begin.nodes)];
        in_full.launch.*number = next;
        if (next < least || next > most || is_known(in_full) || !goes_on()) break;
        try_nodes(nodes);
        if (found_.back().nodes != nodes || found_.back().seconds(use) >= best) break;
        best = found_.back().seconds(use);
      }
      if (best < begin.seconds(use)) break;
    }
  }
  std::size_t index_of(const NodeLayout& nodes) const {
    return static_cast<std::size_t>(std::ranges::find(found_, nodes, &NodeTrial::nodes) -
                                    found_.begin());
  }
  /// True if it has run. Launches are compared in full, since shared memory may have room for fewer
  /// warps than requested.
  bool is_known(const NodeLayout& in_full) const {
    return std::ranges::count(launches_, in_full) != 0;
  }

  static TreeUse use_of(std::size_t k) {
    return k == 0 ? TreeUse::product : TreeUse::adjoint_product;
  }
  const NodeTrial& fastest(TreeUse use) const {
    return *std::ranges::min_element(found_, {},
                                     [&](const NodeTrial& trial) { return trial.seconds(use); });
  }

  const AnyMatrix& matrix_;
  Device device_;
  const TuneOptions& options_;
  Effort effort_;
  Clock::time_point began_;
  bool stopped_ = false;
  int sizes_;         // under all schedules
  int expected_ = 0;  // number of trials, once all are known
  std::vector<std::vector<double>> references_;
  std::vector<std::unique_ptr<Race>> races_;
  std::vector<NodeTrial> found_;
  std::vector<NodeLayout> launches_;  // the same nodes, in full
};

}  // namespace

Profile tune_nodes(const NamedMatrix& matrix, const Device& device, const TuneOptions& options) {
  TuneOptions of_products = options;
  of_products.objective = Objective::product();
  detail::check_tuning(matrix, of_products);
  const AnyMatrix& tuned = *matrix.matrix;
  if (options.on_matrix) options.on_matrix(matrix.name);
  Profile profile = Profile::of(device);
  std::vector<NodeTrial> sizes = NodeSearch(tuned, device, options).run();
  if (sizes.empty()) return profile;
  const Device host = Device::cpu(device.threads());
  profile.trees.push_back({matrix.name, std::string(tuned.entry().name()),
                           std::string(name(tuned.precision())), fingerprint(tuned.pattern(), host),
                           pattern_features(tuned.pattern(), host), std::move(sizes),
                           detail::today()});
  return profile;
}

}  // namespace heddle
