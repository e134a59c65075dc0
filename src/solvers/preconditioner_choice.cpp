#include "heddle/runtime/preconditioner_choice.hpp"

#include <algorithm>
#include <charconv>

#include "heddle/error.hpp"

namespace heddle {

namespace {

constexpr PreconditionerInfo table[] = {
    {.kind = PreconditionerKind::none, .name = "none", .needs_entries = false},
    {.kind = PreconditionerKind::jacobi, .name = "jacobi"},
    {.kind = PreconditionerKind::block_jacobi,
     .name = "block-jacobi",
     .number = "entries",
     .most = 32},
    {.kind = PreconditionerKind::chebyshev,
     .name = "chebyshev",
     .number = "degree",
     .usual = 4,
     .most = 64,
     .needs_entries = false},
    {.kind = PreconditionerKind::neumann,
     .name = "neumann",
     .number = "terms",
     .usual = 2,
     .most = 16,
     .needs_entries = false},
    {.kind = PreconditionerKind::fsai,
     .name = "fsai",
     .number = "power",
     .usual = 1,
     .most = 4,
     .is_symmetric = false},
    {.kind = PreconditionerKind::isai,
     .name = "isai",
     .number = "power",
     .usual = 1,
     .most = 4,
     .is_hermitian = false,
     .is_symmetric = false},
    {.kind = PreconditionerKind::cr,
     .name = "cr",
     .number = "iterations",
     .usual = 10,
     .most = 10'000,
     .is_hermitian = false,
     .is_symmetric = false,
     .varies = true},
    {.kind = PreconditionerKind::gmres,
     .name = "gmres",
     .number = "iterations",
     .usual = 10,
     .most = 1'000,
     .is_hermitian = false,
     .is_symmetric = false,
     .varies = true},
};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

}  // namespace

std::span<const PreconditionerInfo> preconditioner_table() { return table; }

PreconditionerChoice::PreconditionerChoice(PreconditionerKind kind) : kind(kind) {
  number = info().usual;
}

const PreconditionerInfo& PreconditionerChoice::info() const {
  return *std::find_if(std::begin(table), std::end(table),
                       [&](const PreconditionerInfo& row) { return row.kind == kind; });
}

void check_needs_no_entries(const PreconditionerChoice& choice) {
  if (!choice.info().needs_entries) return;
  std::string others;
  for (const PreconditionerInfo& row : table) {
    if (!row.needs_entries) others += (others.empty() ? "" : ", ") + std::string(row.name);
  }
  refuse("the preconditioner " + std::string(choice.info().name) +
         " is made of the matrix's entries, and would not be that of A + sigma I; there are " +
         others);
}

std::string in_words(const PreconditionerInfo& info) {
  if (info.number.empty()) return std::string(info.name);
  return std::string(info.name) + "[:" + std::string(info.number) +
         (info.usual > 0 ? "=" + std::to_string(info.usual) : "") + "]";
}

std::string preconditioners_in_words() {
  std::string words;
  for (const PreconditionerInfo& row : table) words += (words.empty() ? "" : ", ") + in_words(row);
  return words;
}

PreconditionerChoice parse_preconditioner(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const row = std::find_if(std::begin(table), std::end(table),
                                       [&](const auto& r) { return r.name == name; });
  if (row == std::end(table)) {
    refuse("no preconditioner is named '" + std::string(name) + "'; there are " +
           preconditioners_in_words());
  }
  if (colon == text.npos) return row->kind;
  const std::string_view digits = text.substr(colon + 1);
  if (row->number.empty()) {
    refuse("the preconditioner " + std::string(name) + " takes no number, here '" +
           std::string(digits) + "'");
  }
  int number = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
  if (error != std::errc() || end != digits.end() || number < 1 || number > row->most) {
    refuse("the preconditioner " + std::string(name) + " takes the " + std::string(row->number) +
           ", 1 to " + std::to_string(row->most) + ", not '" + std::string(digits) + "'");
  }
  return {row->kind, number};
}

}  // namespace heddle
