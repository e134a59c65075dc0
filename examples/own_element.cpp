// Finite elements by a user-defined kernel, whose matrices are never written to memory. It runs on
// the CPU as this compiler compiles it and, if there is one, on a GPU. There the run-time compiler
// gets the text of conduction.hpp, by CMake's heddle_embed_entry; nvcc is not needed.
#include <cmath>
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

#include "conduction.hpp"
#include "heddle/assembly.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"

HEDDLE_KERNEL(Conduction, "conduction.hpp")

using E = Conduction::Real;
using heddle::Array, heddle::Device, heddle::Index;

constexpr Index n = 60;  // cells per side of the unit square, n + 1 nodes

/// Two triangles per cell.
std::vector<Index> triangles() {
  std::vector<Index> node;
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index a = j * (n + 1) + i, b = a + 1, c = b + n + 1, d = a + n + 1;
      node.insert(node.end(), {a, b, c, a, c, d});
    }
  }
  return node;
}

template <class T>
Array<T> on(const Device& device, const std::vector<T>& values) {
  return Array<T>(std::span<const T>(values), device);
}

/// The temperature in the middle of a plate of this conductivity.
double middle(double conductivity, const Device& device) {
  const std::vector<Index> node = triangles();
  const auto elements = static_cast<heddle::Offset>(node.size() / 3);
  std::vector<double> x, y, f;
  for (Index j = 0; j <= n; ++j) {
    for (Index i = 0; i <= n; ++i) {
      x.push_back(double(i) / n);
      y.push_back(double(j) / n);
      f.push_back(2 * (x.back() * (1 - x.back()) + y.back() * (1 - y.back())));
    }
  }
  heddle::Assembly<E> assembly({(n + 1) * (n + 1), elements, node.data(), 3},
                               heddle::parse_plan("K1rs"), device);
  heddle::Operator<E>& K = assembly.matrix();
  std::vector<int> held(x.size());
  for (std::size_t v = 0; v < held.size(); ++v) {
    const bool on_rim = x[v] == 0 || x[v] == 1 || y[v] == 0 || y[v] == 1;
    held[static_cast<std::size_t>(K.row_basis()->position(static_cast<Index>(v)))] = on_rim;
  }

  const Array<Index> node_on = on(device, node);
  const Array<double> x_on = on(device, x), y_on = on(device, y), f_on = on(device, f),
                      k_on = on(device, std::vector<double>(node.size() / 3, conductivity));
  const Array<int> held_on = on(device, held);
  const Conduction conduction{node_on.data(), x_on.data(), y_on.data(),
                              k_on.data(),    f_on.data(), held_on.data()};
  heddle::Field<E> b = K.field();
  heddle::assemble_with(assembly, conduction);
  heddle::assemble_vector_with(assembly, conduction, b.view());

  heddle::ConjugateGradient cg(K, heddle::Jacobi(K));
  std::vector<double> u(x.size());  // in the order of the nodes
  const heddle::Report report = cg.solve(b.view(), u);
  std::cout << (device.on_gpu() ? "GPU: " : "CPU: ") << report << '\n';
  return report.converged() ? u[u.size() / 2] : NAN;
}

int main() {
  std::vector<Device> devices = {Device::cpu()};
  if (Device::why_no_gpu().empty()) devices.push_back(Device::cuda());
  for (const Device& device : devices) {
    for (const double conductivity : {1.0, 4.0}) {
      // u = x (1 - x) y (1 - y) / conductivity.
      const double u = middle(conductivity, device), exact = 1 / (16 * conductivity);
      std::cout << "u is " << u << " in the middle, " << exact << " by the exact solution\n";
      if (!(std::abs(u - exact) <= 1e-3 * exact)) return 1;
    }
  }
}
