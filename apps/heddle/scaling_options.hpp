// --scaling of `heddle info`: how a matrix would scale over the devices of a network.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "code_balance.hpp"
#include "distributed/scaling_model.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "run_files.hpp"

namespace heddle::cli {

/// A prediction for each number of ranks.
struct Scaling {
  detail::Network network;
  detail::DeviceRates rates;
  std::string partition;
  double alone = 0;          // seconds of an iteration without ranks
  double product_alone = 0;  // of a product
  double flops = 0;          // of a product
  int unknowns = 0;          // of a row, where the options name a number
  std::vector<detail::ScalingPoint> points;
  detail::WeakScaling weak;
  int best = 1;  // of these numbers, see `best_number_of_ranks`
};

class ScalingOptions {
 public:
  void add_to(CLI::App& command);
  bool is_given() const { return given_ != nullptr && given_->count() > 0; }
  /// Throws `Error` (usage) for texts that name nothing, and for options without --scaling.
  void check() const;
  void add_outputs(RunFiles& files) const;

  /// Throws `Error` (unsupported) unless the matrix is square.
  Scaling predict(const AnyMatrix& matrix, const CodeBalance& balance) const;
  /// The picture, where one is asked for.
  void draw(const Scaling& scaling, const std::string& title, const std::string& words) const;

 private:
  std::string network_, rates_ = "h100", partition_ = "entries";
  std::vector<int> ranks_;
  int unknowns_ = 0;  // of a row, in place of those of its entries
  std::optional<std::string> picture_;
  const CLI::Option* given_ = nullptr;
  std::vector<const CLI::Option*> others_;
};

/// What ranks of a matrix read and write.
detail::ModelBytes entry_bytes_of(const AnyMatrix& matrix);

nlohmann::ordered_json to_json(const Scaling& scaling);
void print(const Scaling& scaling);

}  // namespace heddle::cli
