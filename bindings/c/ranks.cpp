// Ranks of heddle.h: threads of one process, and matrices that they share.
#include "ranks.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "description/scaling.hpp"
#include "distributed/partition/named_partition.hpp"
#include "guard.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/distributed_operator.hpp"
#include "heddle/plan_choice.hpp"
#include "patterns.hpp"
#include "settings_given.hpp"
#include "views.hpp"

using namespace heddle;
using namespace heddle::c;

namespace {

/// The device of this rank. If no number of threads is given, it gets its share of all.
Device device_of_rank(const heddle_settings* settings, int ranks) {
  const Device named = device_of(settings);
  const bool shares = !named.on_gpu() && options_of<StorageSettings>(settings).threads == 0;
  return shares ? Device::cpu(std::max(1, named.threads() / ranks)) : named;
}

Plan plan_of(const std::string& text, const AnyMatrix& matrix, const Device& device,
             Communicator& ranks) {
  if (!text.empty()) return parse_plan(text);
  // The plan is chosen for the threads of all ranks together.
  const Device all = device.on_gpu() ? device : Device::cpu();
  const Plan plan = distributed_plan(choose_plan(matrix, all, Profiles::for_device(all)));
  return parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
}

/// Throws `Error` for settings and matrices that ranks do not support.
StorageSettings storage_for_ranks(const heddle_settings* settings, const AnyMatrix& matrix) {
  if (matrix.rows() != matrix.columns()) {
    throw Error(ErrorKind::unsupported, "ranks share square matrices, not one of " +
                                            std::to_string(matrix.rows()) + " rows and " +
                                            std::to_string(matrix.columns()) + " columns");
  }
  for (const char* const name : {"node", "dense", "launch"}) {
    if (!given_or_none(settings).named.has(name)) continue;
    throw Error(ErrorKind::unsupported, std::string(name) + " is not for ranks");
  }
  const std::string transfer = options_of<RankSettings>(settings).transfer;
  if (transfer != "auto" && transfer != "peer") {
    throw Error(ErrorKind::unsupported,
                "ranks of heddle_run_on_ranks need transfer=peer, not " + transfer);
  }
  auto storage = options_of<StorageSettings>(settings);
  if (storage.is_hierarchical) {
    throw Error(ErrorKind::unsupported, "ranks share matrices in sliced storage, not in hisparse");
  }
  return storage;
}

template <class S>
OperatorParts parts_of_rank(const std::shared_ptr<DistributedOperator<S>>& made,
                            const NamedEntry& entry, const std::shared_ptr<RanksInReach>& ranks) {
  OperatorParts parts{
      nullptr, {entry.entry, std::shared_ptr<const LinearOperator<S>>(made)}, entry, std::nullopt};
  parts.update = [made, entry](const heddle_view& values) {
    check_values<S>(values, entry);
    if (values.layout != HEDDLE_ROW_MAJOR) {
      throw Error(ErrorKind::unsupported, "values.layout: ranks need HEDDLE_ROW_MAJOR");
    }
    const auto bytes =
        static_cast<std::size_t>(made->diagonal().entry().sizes.components) * sizeof(S);
    made->update_values({static_cast<const std::byte*>(values.data),
                         static_cast<std::size_t>(values.count) * bytes});
    made->device().synchronize();
  };
  parts.rows_of_rank = [made, ranks](std::int64_t* rows) {
    const Partition& partition = made->partition();
    const long long first = partition.first_row(ranks->now().rank());
    for (Index own = 0; own < made->rows(); ++own) rows[own] = partition.row(first + own);
  };
  parts.ranks = ranks;
  parts.rows_of_all = made->partition().rows();
  return parts;
}

}  // namespace

heddle_status heddle_run_on_ranks(heddle_context* context, int32_t ranks, heddle_rank_body body,
                                  void* user) {
  return guarded_by(context, [&] {
    if (body == nullptr) throw Error(ErrorKind::usage, "body is a null pointer");
    std::atomic<int> failed = -1;
    const auto run = [&](Communicator& all) {
      heddle_communicator own{context->messages, std::make_shared<RanksInReach>(all)};
      struct End {
        RanksInReach& ranks;
        ~End() { ranks.end(); }
      } const at_the_end{*own.ranks};
      const int returned = body(user, &own);
      if (returned == 0) return;
      int none = -1;
      failed.compare_exchange_strong(none, all.rank());
      throw Error(ErrorKind::usage, "the body of rank " + std::to_string(all.rank()) +
                                        " returned " + std::to_string(returned));
    };
    try {
      run_on_ranks(ranks, run);
    } catch (const Error& error) {
      if (failed < 0) throw;
      throw CallbackFailed(error.what());
    }
  });
}

int32_t heddle_communicator_rank(const heddle_communicator* ranks) {
  int rank = -1;
  guarded_by(ranks, [&] { rank = ranks->ranks->now().rank(); });
  return rank;
}

int32_t heddle_communicator_size(const heddle_communicator* ranks) {
  int size = 0;
  guarded_by(ranks, [&] { size = ranks->ranks->now().size(); });
  return size;
}

heddle_status heddle_operator_distribute(heddle_communicator* ranks, const heddle_matrix* matrix,
                                         const heddle_settings* settings,
                                         heddle_operator** result) {
  return guarded_by(ranks, [&] {
    Communicator& all = ranks->ranks->now();
    guard(all, [&] {
      heddle_operator*& out = required(result, "result");
      const NamedEntry entry = required(matrix, "matrix").entry;
      const AnyMatrix& m = matrix->matrix;
      const StorageSettings storage = storage_for_ranks(settings, m);
      const auto shared = options_of<RankSettings>(settings);
      const Device device = device_of_rank(settings, all.size());
      const Plan plan = plan_of(storage.plan, m, device, all);
      const BoundaryStorage boundary = parse_boundary_storage(shared.boundary);
      const Partition partition =
          detail::named_partition(shared.partition, m.pattern(), all.size());
      const ExchangeMode mode = shared.exchange == "auto"
                                    ? detail::choose_exchange(all, partition, m, device).mode
                                    : parse_exchange_mode(shared.exchange);
      const RankEntries own = entries_of_rank(m.pattern(), m.values(), partition, all.rank());
      out = new heddle_operator{
          ranks->messages,
          std::visit(
              [&]<class S>(const detail::EntryTableHandle<S>& table) {
                return std::make_shared<OperatorParts>(parts_of_rank<S>(
                    std::make_shared<DistributedOperator<S>>(
                        all, partition, table, own.rows, own.values, plan, mode, device, boundary),
                    entry, ranks->ranks));
              },
              detail::entry_table_of(m))};
    });
  });
}

heddle_status heddle_operator_rows_of_rank(const heddle_operator* A, int64_t* rows) {
  return guarded_by(A, [&] {
    if (!A->parts->rows_of_rank) throw Error(ErrorKind::usage, "no ranks share this operator");
    A->parts->rows_of_rank(&required(rows, "rows"));
  });
}
