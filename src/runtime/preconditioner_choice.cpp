#include "heddle/runtime/preconditioner_choice.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/text/names.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

constexpr PreconditionerInfo table[] = {
    {.kind = PreconditionerKind::automatic,
     .name = "auto",
     .takes_products = true,
     .is_alone = true,
     .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::none,
     .name = "none",
     .takes_products = true,
     .is_alone = true,
     .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::jacobi, .name = "jacobi", .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::block_jacobi,
     .name = "block-jacobi",
     .number = "entries",
     .max_number = 32,
     .is_of_all_entries = true,
     .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::chebyshev,
     .name = "chebyshev",
     .number = "degree",
     .default_number = 4,
     .max_number = 64,
     .takes_products = true},
    {.kind = PreconditionerKind::neumann,
     .name = "neumann",
     .number = "terms",
     .default_number = 2,
     .max_number = 16,
     .takes_products = true,
     .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::fsai,
     .name = "fsai",
     .number = "power",
     .default_number = 1,
     .max_number = 4,
     .is_of_all_entries = true,
     .is_symmetric = false,
     .adjoint = AdjointOf::itself},
    {.kind = PreconditionerKind::isai,
     .name = "isai",
     .number = "power",
     .default_number = 1,
     .max_number = 4,
     .is_of_all_entries = true,
     .is_hermitian = false,
     .is_symmetric = false},
    {.kind = PreconditionerKind::direct,
     .name = "direct",
     .is_of_all_entries = true,
     .adjoint = AdjointOf::adjoint_matrix},
    {.kind = PreconditionerKind::cr,
     .name = "cr",
     .number = "iterations",
     .default_number = 10,
     .max_number = 10'000,
     .is_hermitian = false,
     .is_symmetric = false,
     .varies = true},
    {.kind = PreconditionerKind::gmres,
     .name = "gmres",
     .number = "iterations",
     .default_number = 10,
     .max_number = 1'000,
     .is_hermitian = false,
     .is_symmetric = false,
     .varies = true},
    {.kind = PreconditionerKind::multigrid,
     .name = "multigrid",
     .number = "degree",
     .default_number = 1,
     .max_number = 16,
     .is_of_all_entries = true,
     .is_symmetric = false,
     .adjoint = AdjointOf::itself},
};

template <class Setting>
struct Named {
  Setting setting;
  std::string_view name;
};
constexpr Named<Cycle> cycles[] = {{Cycle::v, "v"}, {Cycle::w, "w"}, {Cycle::k, "k"}};
constexpr Named<Smoother> smoothers[] = {{Smoother::chebyshev, "chebyshev"},
                                         {Smoother::jacobi, "jacobi"},
                                         {Smoother::l1_jacobi, "l1-jacobi"},
                                         {Smoother::gauss_seidel, "gauss-seidel"}};
constexpr Named<Interpolation> interpolations[] = {{Interpolation::smoothed, "smoothed"},
                                                   {Interpolation::plain, "plain"}};
constexpr Named<StoredScalar> level_precisions[] = {{StoredScalar::own, "full"},
                                                    {StoredScalar::single, "single"}};

template <class Setting>
std::optional<Setting> find_named(std::span<const Named<Setting>> table, std::string_view name) {
  for (const Named<Setting>& row : table) {
    if (is_same_name(row.name, name)) return row.setting;
  }
  return std::nullopt;
}
template <class Setting>
std::string_view name_of(std::span<const Named<Setting>> table, Setting setting) {
  return std::ranges::find(table, setting, &Named<Setting>::setting)->name;
}

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

void check_needs_no_entries(const PreconditionerChoice& choice) {
  if (choice.info().takes_products) return;
  std::string others;
  for (const PreconditionerInfo& row : table) {
    if (!row.takes_products || row.kind == PreconditionerKind::automatic) continue;
    others += (others.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse("the preconditioner " + std::string(choice.info().name) +
         " is made from stored entries, which this operator lacks, as A + sigma I does; choose one "
         "of " +
         others);
}

/// The pieces between separators, at least one.
std::vector<std::string_view> pieces_of(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (;;) {
    const std::size_t end = text.find(separator);
    pieces.push_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + 1);
  }
}

/// True if the terms, and the factors of each term, read the same from both ends.
bool is_palindrome(const std::vector<ComposedChoice::Product>& terms) {
  const auto reads_the_same = [](const auto& list) {
    return std::equal(list.begin(), list.end(), list.rbegin());
  };
  return reads_the_same(terms) && std::all_of(terms.begin(), terms.end(), reads_the_same);
}

template <class Test>
bool all_parts(const std::vector<ComposedChoice::Product>& terms, const Test& test) {
  return std::all_of(terms.begin(), terms.end(), [&](const ComposedChoice::Product& product) {
    return std::all_of(product.begin(), product.end(),
                       [&](const PreconditionerChoice& part) { return test(part.info()); });
  });
}

}  // namespace

std::span<const PreconditionerInfo> preconditioner_table() { return table; }

PreconditionerChoice::PreconditionerChoice(PreconditionerKind kind) : kind(kind) {
  number = info().default_number;
}

const PreconditionerInfo& PreconditionerChoice::info() const {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const PreconditionerInfo& row) { return row.kind == kind; });
}

std::string PreconditionerChoice::text() const {
  const bool is_usual = info().number.empty() || number == info().default_number;
  return std::string(info().name) + (is_usual ? "" : ":" + std::to_string(number));
}

void check_needs_no_entries(const ComposedChoice& choice) {
  for (const ComposedChoice::Product& product : choice.terms()) {
    for (const PreconditionerChoice& part : product) check_needs_no_entries(part);
  }
}

std::string in_words(const PreconditionerInfo& info) {
  if (info.number.empty()) return std::string(info.name);
  return std::string(info.name) + "[:" + std::string(info.number) +
         (info.default_number > 0 ? "=" + std::to_string(info.default_number) : "") + "]";
}

std::string preconditioners_in_words() {
  std::string words;
  for (const PreconditionerInfo& row : table) words += (words.empty() ? "" : ", ") + in_words(row);
  return words;
}

std::string compositions_in_words() {
  return "; a*b applies b, then a; a,b applies a, then b to what a leaves";
}

PreconditionerChoice parse_preconditioner(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const row = std::find_if(std::begin(table), std::end(table),
                                       [&](const auto& r) { return is_same_name(r.name, name); });
  if (row == std::end(table)) {
    refuse("no preconditioner is named '" + std::string(name) + "'; there are " +
           preconditioners_in_words());
  }
  if (colon == text.npos) return row->kind;
  const std::string_view digits = text.substr(colon + 1);
  if (row->number.empty()) {
    refuse("the preconditioner " + std::string(name) + " takes no number, but was given '" +
           std::string(digits) + "'");
  }
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || number < 1 || number > row->max_number) {
    refuse("the preconditioner " + std::string(name) + " takes the " + std::string(row->number) +
           ", 1 to " + std::to_string(row->max_number) + ", not '" + std::string(digits) + "'");
  }
  return {row->kind, number};
}

std::optional<Cycle> find_cycle(std::string_view name) { return find_named<Cycle>(cycles, name); }
std::optional<Smoother> find_smoother(std::string_view name) {
  return find_named<Smoother>(smoothers, name);
}
std::optional<Interpolation> find_interpolation(std::string_view name) {
  return find_named<Interpolation>(interpolations, name);
}
std::optional<StoredScalar> find_level_precision(std::string_view name) {
  return find_named<StoredScalar>(level_precisions, name);
}
std::string_view name(Cycle cycle) { return name_of<Cycle>(cycles, cycle); }
std::string_view name(Smoother smoother) { return name_of<Smoother>(smoothers, smoother); }
std::string_view name(Interpolation interpolation) {
  return name_of<Interpolation>(interpolations, interpolation);
}
std::string_view name_of_level_precision(StoredScalar precision) {
  // Other precisions are refused where levels are made.
  const bool is_single = precision == StoredScalar::single;
  return name_of<StoredScalar>(level_precisions, is_single ? precision : StoredScalar::own);
}

namespace {

/// The settings that all multigrid parts share, as far as they have been read.
using CycleWords = std::tuple<Cycle, Smoother, Interpolation, StoredScalar>;

/// True if the piece names such a setting, which is then stored in `own`.
template <class Setting>
bool takes(std::string_view piece, const std::optional<Setting>& found, const std::string& what,
           std::optional<Setting>& own) {
  if (!found) return false;
  if (own) {
    refuse("the preconditioner multigrid has one " + what + ", not a second one '" +
           std::string(piece) + "'");
  }
  own = found;
  return true;
}

/// Parses a part; its cycle, smoother, interpolation and precision equal `multigrid` or set it.
PreconditionerChoice parse_part(std::string_view text, std::optional<CycleWords>& multigrid) {
  const std::vector<std::string_view> pieces = pieces_of(text, ':');
  if (!is_same_name(pieces.front(), "multigrid")) return parse_preconditioner(text);
  std::string rest(pieces.front());
  std::optional<Cycle> cycle;
  std::optional<Smoother> smoother;
  std::optional<Interpolation> interpolation;
  std::optional<StoredScalar> precision;
  for (std::size_t k = 1; k < pieces.size(); ++k) {
    const std::string_view piece = pieces[k];
    if (takes(piece, find_cycle(piece), "cycle", cycle) ||
        takes(piece, find_smoother(piece), "smoother", smoother) ||
        takes(piece, find_interpolation(piece), "interpolation", interpolation) ||
        takes(piece, find_level_precision(piece), "precision of its levels", precision)) {
      continue;
    }
    if (k > 1 || piece.find_first_not_of("0123456789") != std::string_view::npos) {
      refuse(
          "the preconditioner multigrid takes the degree first, then a cycle (v, w, k), a smoother "
          "(chebyshev, jacobi, l1-jacobi, gauss-seidel), an interpolation (smoothed, plain) and a "
          "precision of its levels (full, single), not '" +
          std::string(piece) + "'");
    }
    rest += ":" + std::string(piece);
  }
  const MultigridChoice usual;
  const CycleWords own(cycle.value_or(usual.cycle), smoother.value_or(usual.smoother),
                       interpolation.value_or(usual.interpolation),
                       precision.value_or(usual.level_precision));
  if (multigrid.value_or(own) != own) {
    refuse(
        "all multigrid parts must share one cycle, one smoother, one interpolation and one "
        "precision of their levels");
  }
  multigrid = own;
  return parse_preconditioner(rest);
}

}  // namespace

ComposedChoice ComposedChoice::parse(std::string_view text) {
  ComposedChoice choice;
  const bool is_composed = text.find_first_of("*,") != text.npos;
  std::optional<CycleWords> multigrid;
  int number = 0;
  for (const std::string_view product : pieces_of(text, ',')) {
    Product& factors = choice.terms_.emplace_back();
    for (const std::string_view part : pieces_of(product, '*')) {
      ++number;
      try {
        factors.push_back(parse_part(part, multigrid));
        if (const auto& info = factors.back().info(); is_composed && info.is_alone) {
          refuse(std::string(info.name) + " cannot be part of a composition: leave it out");
        }
      } catch (const Error& error) {
        if (!is_composed) throw;
        refuse("part " + std::to_string(number) + " of the preconditioner '" + std::string(text) +
               "': " + (part.empty() ? "it is empty" : error.what()));
      }
    }
  }
  if (multigrid) {
    MultigridChoice& own = choice.multigrid;
    std::tie(own.cycle, own.smoother, own.interpolation, own.level_precision) = *multigrid;
  }
  return choice;
}

std::string ComposedChoice::text() const {
  std::string text;
  for (const Product& product : terms_) {
    if (&product != &terms_.front()) text += ',';
    for (const PreconditionerChoice& part : product) {
      text += (&part != &product.front() ? "*" : "") + part.text();
      if (part.kind != PreconditionerKind::multigrid) continue;
      if (multigrid.cycle != Cycle::v) text += ":" + std::string(name(multigrid.cycle));
      if (multigrid.smoother != Smoother::chebyshev) {
        text += ":" + std::string(name(multigrid.smoother));
      }
      if (multigrid.interpolation != Interpolation::smoothed) {
        text += ":" + std::string(name(multigrid.interpolation));
      }
      if (multigrid.level_precision != StoredScalar::own) {
        text += ":" + std::string(name_of_level_precision(multigrid.level_precision));
      }
    }
  }
  return text;
}

bool ComposedChoice::is_hermitian() const {
  return is_palindrome(terms_) &&
         all_parts(terms_, [](const PreconditionerInfo& info) { return info.is_hermitian; });
}
bool ComposedChoice::is_symmetric() const {
  return is_palindrome(terms_) &&
         all_parts(terms_, [](const PreconditionerInfo& info) { return info.is_symmetric; });
}
bool ComposedChoice::is_own_adjoint() const {
  const PreconditionerInfo& first = terms_.front().front().info();
  return terms_.size() == 1 && terms_.front().size() == 1 && has_adjoint() &&
         first.adjoint == AdjointOf::itself;
}
bool ComposedChoice::has_adjoint() const {
  // Diagonal blocks without a number are rows of equal patterns, and A* has other rows.
  for (const Product& product : terms_) {
    for (const PreconditionerChoice& part : product) {
      if (part.kind == PreconditionerKind::block_jacobi && part.number == 0) return false;
    }
  }
  return !varies() && all_parts(terms_, [](const PreconditionerInfo& info) {
    return info.adjoint != AdjointOf::none;
  });
}
ComposedChoice ComposedChoice::reversed() const {
  ComposedChoice other = *this;
  std::ranges::reverse(other.terms_);
  for (Product& product : other.terms_) std::ranges::reverse(product);
  return other;
}
bool ComposedChoice::has(PreconditionerKind kind) const {
  return !all_parts(terms_, [&](const PreconditionerInfo& info) { return info.kind != kind; });
}
bool ComposedChoice::is_of_all_entries() const {
  return !all_parts(terms_, [](const PreconditionerInfo& info) { return !info.is_of_all_entries; });
}
bool ComposedChoice::varies() const {
  if (multigrid.cycle == Cycle::k && has(PreconditionerKind::multigrid)) return true;
  return !all_parts(terms_, [](const PreconditionerInfo& info) { return !info.varies; });
}

}  // namespace heddle
