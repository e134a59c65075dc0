#include "entry_definition_checks.hpp"

#include <algorithm>
#include <cmath>
#include <random>

namespace heddle::detail {

namespace {

using Vector = std::vector<double>;

constexpr int samples = 4;
constexpr double tolerance = 1e-9;  // relative to the largest number that took part

Vector random_vector(int size, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vector values(static_cast<std::size_t>(size));
  for (double& value : values) value = uniform(random);
  return values;
}

/// s u + t v.
Vector combined(double s, const Vector& u, double t, const Vector& v) {
  Vector sum(u.size());
  for (std::size_t i = 0; i < u.size(); ++i) sum[i] = s * u[i] + t * v[i];
  return sum;
}

double largest(const Vector& v) {
  double most = 0;
  for (const double value : v) most = std::max(most, std::abs(value));
  return most;
}

/// The first component in which the two differ, -1 for none; values that are not finite differ.
int first_difference(const Vector& u, const Vector& v, double allowed) {
  for (std::size_t i = 0; i < u.size(); ++i) {
    const double difference = std::abs(u[i] - v[i]);
    if (!(difference <= allowed) || !std::isfinite(difference)) return static_cast<int>(i);
  }
  return -1;
}

Vector image(const Formula& formula, const Vector& first, const Vector& second) {
  Vector result(formula.results.size()), registers;
  evaluate(formula, first.data(), second.data(), result.data(), registers);
  return result;
}

/// Compares `f` at s u + t v with s f(u) + t f(v).
template <class F>
int first_nonlinear(const F& f, const Vector& u, const Vector& v) {
  constexpr double s = 0.75, t = -1.5;
  const Vector fu = f(u), fv = f(v);
  return first_difference(f(combined(s, u, t, v)), combined(s, fu, t, fv),
                          tolerance * (largest(fu) + largest(fv)));
}

Vector product(const Vector& left, const Vector& right, int n) {
  Vector result(left.size());
  const auto at = [n](int i, int j) { return static_cast<std::size_t>(i * n + j); };
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < n; ++k) {
      for (int j = 0; j < n; ++j) result[at(i, j)] += left[at(i, k)] * right[at(k, j)];
    }
  }
  return result;
}

Vector identity(int n) {
  Vector one(static_cast<std::size_t>(n * n));
  for (int i = 0; i < n; ++i) one[static_cast<std::size_t>(i * n + i)] = 1;
  return one;
}

Vector transpose(const Vector& matrix, int n) {
  Vector transposed(matrix.size());
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      transposed[static_cast<std::size_t>(j * n + i)] = matrix[static_cast<std::size_t>(i * n + j)];
    }
  }
  return transposed;
}

/// Multiplication from the right of every group of components by unit `unit` of the ring.
Vector right_multiplication(Ring ring, int unit, int n) {
  // Column j of a table is the signed place (counted from 1) to which component j goes.
  static constexpr int complex_i[] = {2, -1};
  static constexpr int quaternion_units[3][4] = {{2, -1, -4, 3}, {3, 4, -1, -2}, {4, -3, 2, -1}};
  const int size = ring_size(ring);
  const int* const to = ring == Ring::complex ? complex_i : quaternion_units[unit];
  Vector matrix(static_cast<std::size_t>(n * n));
  for (int j = 0; j < n; ++j) {
    const int signed_place = to[j % size];
    const int i = j - j % size + std::abs(signed_place) - 1;
    matrix[static_cast<std::size_t>(i * n + j)] = signed_place > 0 ? 1 : -1;
  }
  return matrix;
}

void check_ring(const EntryDefinition& definition, const Vector& a) {
  const int n = definition.vector_size();
  const Vector A = real_representation(definition, a.data());
  for (int unit = 0; unit < ring_size(definition.ring) - 1; ++unit) {
    const Vector c = right_multiplication(definition.ring, unit, n);
    if (first_difference(product(A, c, n), product(c, A, n), tolerance * n * largest(A)) >= 0) {
      detail::malformed_file(
          std::string("ring: a (x c) is not (a x) c for ") +
          (definition.ring == Ring::complex ? "complex numbers" : "quaternions") +
          " c; use \"real\"");
    }
  }
}

void check_inverse(const EntryDefinition& definition, const Vector& a) {
  const int n = definition.vector_size();
  Vector inverse(a.size()), registers;
  invert(definition, a.data(), inverse.data(), registers);
  const Vector A = real_representation(definition, a.data());
  const Vector B = real_representation(definition, inverse.data());
  const double allowed = tolerance * n * (1 + largest(A) * largest(B));
  if (first_difference(product(B, A, n), identity(n), allowed) >= 0) {
    detail::malformed_file("inverse: inverse(a) * (a * x) is not x");
  }
}

void check_adjoint(const EntryDefinition& definition, const Vector& a) {
  const int n = definition.vector_size();
  const Vector adjoint = image(definition.adjoint, a, a);
  const Vector A = real_representation(definition, a.data());
  const Vector B = real_representation(definition, adjoint.data());
  if (first_difference(B, transpose(A, n), tolerance * largest(A)) >= 0) {
    detail::malformed_file(
        "adjoint: its real representation is not the transpose of that of a; leave adjoint out if "
        "there is no such entry");
  }
}

}  // namespace

void check_add(const EntryDefinition& definition, const Formula& add) {
  std::mt19937 random(1);
  const Vector a = random_vector(definition.size(), random);
  const Vector b = random_vector(definition.size(), random);
  const int at = first_difference(image(add, a, b), combined(1, a, 1, b), tolerance);
  if (at >= 0) {
    const std::string& name = definition.components[static_cast<std::size_t>(at)];
    detail::malformed_file("add: component " + name + " is not a." + name + " + b." + name +
                           ", as linear products require");
  }
}

std::vector<ProductTerm> product_terms(const EntryDefinition& definition, const Formula& multiply) {
  const int K = definition.size(), V = definition.vector_size();
  const auto name = [&](int i) {
    return definition.vector_components[static_cast<std::size_t>(i)];
  };
  std::mt19937 random(2);
  for (int sample = 0; sample < samples; ++sample) {
    const Vector a = random_vector(K, random), b = random_vector(K, random);
    const Vector x = random_vector(V, random), y = random_vector(V, random);
    const auto of_x = [&](const Vector& v) { return image(multiply, a, v); };
    const auto of_a = [&](const Vector& v) { return image(multiply, v, x); };
    if (const int at = first_nonlinear(of_x, x, y); at >= 0) {
      detail::malformed_file("multiply: component " + name(at) + " is not linear in x");
    }
    if (const int at = first_nonlinear(of_a, a, b); at >= 0) {
      detail::malformed_file("multiply: component " + name(at) + " is not linear in a");
    }
  }
  // The product is linear in both, so its values at unit vectors determine it.
  const Vector no_a(static_cast<std::size_t>(K)), no_x(static_cast<std::size_t>(V));
  Vector table(static_cast<std::size_t>(V * K * V));
  const auto at = [&](int i, int j, int k) {
    return static_cast<std::size_t>((i * K + j) * V + k);
  };
  for (int j = 0; j < K; ++j) {
    for (int k = 0; k < V; ++k) {
      Vector a = no_a, x = no_x;
      a[static_cast<std::size_t>(j)] = 1;
      x[static_cast<std::size_t>(k)] = 1;
      const Vector y = image(multiply, a, x);
      for (int i = 0; i < V; ++i) table[at(i, j, k)] = y[static_cast<std::size_t>(i)];
    }
  }
  constexpr double rounding = 1e-14;  // remainder of terms that cancel
  const double least = rounding * largest(table);
  std::vector<ProductTerm> terms;
  std::vector<bool> used(static_cast<std::size_t>(K));
  for (int i = 0; i < V; ++i) {
    for (int j = 0; j < K; ++j) {
      for (int k = 0; k < V; ++k) {
        const double coefficient = table[at(i, j, k)];
        if (!std::isfinite(coefficient)) {
          detail::malformed_file("multiply: component " + name(i) +
                                 " divides by zero at some a and x");
        }
        if (!(std::abs(coefficient) > least)) continue;
        terms.push_back({i, j, k, coefficient});
        used[static_cast<std::size_t>(j)] = true;
      }
    }
  }
  for (int j = 0; j < K; ++j) {
    if (used[static_cast<std::size_t>(j)]) continue;
    detail::malformed_file("multiply: no component depends on a." +
                           definition.components[static_cast<std::size_t>(j)] +
                           "; leave that member out");
  }
  return terms;
}

void check_operators(const EntryDefinition& definition) {
  std::mt19937 random(3);
  for (int sample = 0; sample < samples; ++sample) {
    const Vector a = random_vector(definition.size(), random);
    if (definition.ring != Ring::real) check_ring(definition, a);
    if (definition.has_inverse()) check_inverse(definition, a);
    if (definition.has_adjoint()) check_adjoint(definition, a);
  }
}

}  // namespace heddle::detail
