// A matrix under several plans: products of the user's arrays under any plan, and of fields in the
// operator's basis, which are not permuted.
#include <cmath>
#include <iostream>
#include <vector>

#include "heddle/multiply.hpp"
#include "heddle/operator.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/problems.hpp"

int main() {
  using E = heddle::block<double, 3, 3>;
  const auto matrix = heddle::elasticity(300);
  const auto device = heddle::Device::cpu();
  const auto choice =
      heddle::Profiles::for_device(device).choose(matrix, device, heddle::Objective::product());
  std::cout << "chosen: " << heddle::to_string(choice.plan) << "\n  " << choice.reason << "\n";

  std::vector<double> x(static_cast<std::size_t>(matrix.rows()) * 3, 1.0), y(x.size());
  double norms[3];
  int next = 0;
  for (const heddle::Plan& plan :
       {choice.plan, heddle::parse_plan("CSR"),
        heddle::parse_plan("C=32,sigma=n,order=rcm,vector-layout=soa")}) {
    const heddle::Operator<E> A(matrix, plan);
    // In the user's order; x and y pass through fields of A if its basis is another.
    heddle::multiply(A, heddle::field_view<E>(x), heddle::field_view<E>(y));
    // In the basis of A, which a loop of products should use.
    heddle::Field<E> u = A.field(), image = A.field();
    const heddle::Stream& stream = A.device().stream();
    heddle::permute<double>(heddle::field_view<E>(x), u, 1, stream);  // into the basis
    for (int step = 0; step < 10; ++step) A.apply(1, u, 0, image, stream);
    norms[next++] = static_cast<double>(heddle::norm<double>(image, stream));
  }
  std::cout << "|A x| = " << norms[0] << "\n";
  return std::abs(norms[1] - norms[0]) + std::abs(norms[2] - norms[0]) < 1e-9 * norms[0] ? 0 : 1;
}
