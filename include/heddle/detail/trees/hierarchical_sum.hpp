// Sums of hierarchical matrices: how entries add, on a CPU and on a GPU.
#pragma once

#include <complex>
#include <cstddef>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/hierarchical_matrix.hpp"

namespace heddle {

/// Empty if the matrices are not both on one GPU, or if the entry has sums or an adjoint of its own
/// kind.
template <class E>
template <class C>
std::optional<detail::Tree> HierarchicalMatrix<E>::sum_on_gpu(C alpha, C beta,
                                                              const HierarchicalMatrix& B,
                                                              const Reading& of_b,
                                                              SumSchedule schedule) const {
  if constexpr (has_cuda) {
    const auto a = this->on_gpu(), b = B.on_gpu();
    if (!a || !b || a->device().stream().gpu != b->device().stream().gpu) return {};
    if (!detail::adds_components<E>()) return {};
    cuda::EntrySum sum{int{sizeof(scalar)}, E::components, false, {}, {}, {}};
    if constexpr (has_adjoint<E>) {
      if (of_b.conjugates) {
        auto components = detail::components_of_adjoint<E>();
        if (!components) return {};
        sum.adjoint = std::move(*components);
      }
    }
    const auto take = [&](const C& factor, double* to) {
      if constexpr (std::is_same_v<C, scalar>) {
        to[0] = static_cast<double>(factor);
      } else {
        sum.is_complex = true;
        to[0] = static_cast<double>(factor.real());
        to[1] = static_cast<double>(factor.imag());
      }
    };
    take(alpha, sum.alpha);
    take(beta, sum.beta);
    return cuda::sum_of_trees(a, b, of_b.transposes, sum, schedule);
  }
  return {};
}

template <class E>
template <class C>
HierarchicalMatrix<E> HierarchicalMatrix<E>::plus(C alpha, C beta, const HierarchicalMatrix& B,
                                                  bool adjoint_of_b, SumSchedule schedule) const {
  const auto times = [](E entry, const C& factor) {
    if constexpr (std::is_same_v<C, scalar>) {
      for (auto& component : entry.component) component *= factor;
    } else {
      for (int k = 0; k < E::components; k += 2) {
        const scalar re = entry.component[k], im = entry.component[k + 1];
        entry.component[k] = re * factor.real() - im * factor.imag();
        entry.component[k + 1] = re * factor.imag() + im * factor.real();
      }
    }
    return entry;
  };
  detail::check_sum(without_entries(), B.without_entries(), adjoint_of_b);
  const TreeForm form = this->state().form;
  const Reading of_b{
      (this->is_transposed() != B.is_transposed()) != adjoint_of_b,
      ((form == TreeForm::adjoint) != (B.state().form == TreeForm::adjoint)) != adjoint_of_b};
  const auto in_form = [&](C& factor, const scalar& scale) {
    factor *= scale;
    if constexpr (!std::is_same_v<C, scalar>) {
      if (form == TreeForm::adjoint) factor = std::conj(factor);
    }
  };
  in_form(alpha, this->state().scale);
  in_form(beta, B.state().scale);
  const auto combine = [&](std::span<const detail::SumTerm> terms) {
    for (const detail::SumTerm& term : terms) {
      E a, b;
      if (term.a != nullptr) {
        std::memcpy(&a, term.a, sizeof(E));
        a = times(a, alpha);
      }
      if (term.b != nullptr) {
        std::memcpy(&b, term.b, sizeof(E));
        if constexpr (has_adjoint<E>) {
          if (of_b.conjugates) b = adjoint(b);
        }
        b = times(b, beta);
      }
      const E total = term.a == nullptr ? b : term.b == nullptr ? a : add(a, b);
      std::memcpy(term.sum, &total, sizeof(E));
    }
  };
  if (auto sum = sum_on_gpu(alpha, beta, B, of_b, schedule)) return {std::move(*sum), *this};
  const auto most = static_cast<std::size_t>(this->tree().entries + B.tree().entries);
  return detail::or_refuse_memory("entries of a sum", most, sizeof(E), [&] {
    return HierarchicalMatrix(
        detail::sum_of_trees(this->scheduled(), B.scheduled(), of_b.transposes, combine,
                             this->team(), schedule),
        *this);
  });
}

template <class E>
HierarchicalMatrix<E> HierarchicalMatrix<E>::written_out() const {
  if constexpr (can_add) {
    if (is_plain()) return *this;
    const HierarchicalMatrix nothing(
        detail::scheduled(without_entries(), this->tree().launch, this->team()), this->device());
    return nothing.plus(scalar(1), scalar(1), *this, false, SumSchedule::kept);
  } else {
    return *this;
  }
}

}  // namespace heddle
