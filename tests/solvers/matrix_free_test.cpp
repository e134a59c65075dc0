// Operators that are not matrices: ones with only `rows` and `apply`, shifted ones, and sums.
#include <gtest/gtest.h>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

/// The second difference on a line, as a user would write it.
class Line final : public LinearOperator<double> {
 public:
  explicit Line(Index n) : n_(n) {}
  Index rows() const override { return n_; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream&) const override {
    for (Index i = 0; i < n_; ++i) {
      double sum = 2 * x.at(i, 0);
      if (i > 0) sum -= x.at(i - 1, 0);
      if (i + 1 < n_) sum -= x.at(i + 1, 0);
      y.at(i, 0) = alpha * sum + (beta == 0 ? 0 : beta * y.at(i, 0));
    }
  }

 private:
  Index n_;
};

Eigen::MatrixXd dense_line(Index n) {
  Eigen::MatrixXd line = 2 * Eigen::MatrixXd::Identity(n, n);
  for (Index i = 0; i + 1 < n; ++i) line(i, i + 1) = line(i + 1, i) = -1;
  return line;
}

/// Functions that every wrapper of operators passes on.
template <class S>
class Wrapper : public LinearOperator<S> {
 public:
  explicit Wrapper(const LinearOperator<S>& inner) : inner_(inner) {}
  Index rows() const override { return inner_.rows(); }
  int row_components() const override { return inner_.row_components(); }
  VectorLayout vector_layout() const override { return inner_.vector_layout(); }
  std::shared_ptr<const Basis> row_basis() const override { return inner_.row_basis(); }
  Ring ring() const override { return inner_.ring(); }
  Recurrence recurrence() const override { return inner_.recurrence(); }
  bool has_adjoint() const override { return inner_.has_adjoint(); }
  Device device() const override { return inner_.device(); }

 protected:
  const LinearOperator<S>& inner_;
};

/// A + shift.
template <class S>
class Shifted final : public Wrapper<S> {
 public:
  Shifted(const LinearOperator<S>& inner, S shift) : Wrapper<S>(inner), shift_(shift) {}
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    this->inner_.apply(alpha, x, beta, y, stream);
    axpby<S>(alpha * shift_, x, S(1), y, stream);
  }

 private:
  S shift_;
};

/// A + B, both in one basis.
template <class S>
class Sum final : public Wrapper<S> {
 public:
  Sum(const LinearOperator<S>& a, const LinearOperator<S>& b) : Wrapper<S>(a), other_(b) {}
  void apply(S alpha, const FieldView<const S>& x, S beta, const FieldView<S>& y,
             const Stream& stream) const override {
    this->inner_.apply(alpha, x, beta, y, stream);
    other_.apply(alpha, x, S(1), y, stream);
  }

 private:
  const LinearOperator<S>& other_;
};

template <class E>
void expect_solved(const Report& report, const CsrMatrix<E>& matrix, const Field<E>& b,
                   const Field<E>& x) {
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_TRUE(true_residual(matrix, b, x) <= 1e-10 * components_of<double>(b).norm() * (1 + 1e-5));
}

TEST(MatrixFree, RowsAndApplyAreEnough) {
  for (const Index n : {1, 2, 63, 700}) {
    SCOPED_TRACE("n " + std::to_string(n));
    Generator generator(static_cast<unsigned>(n));
    const Line A(n);
    const auto matrix = from_dense(dense_line(n));
    const auto b = random_vector<real<double>>(n, generator);
    Field<real<double>> x(n);
    ConjugateGradient cg(A);
    expect_solved(cg.solve(b, x), matrix, b, x);
    EXPECT_EQ(cg.solve(b, x).iterations, 0) << "the solution is a guess to begin from";

    // Plain arrays work as well.
    std::vector<double> rhs(bits_of(b)), solution(static_cast<std::size_t>(n));
    cg.solve({rhs.data(), n}, {solution.data(), n});
    EXPECT_EQ(solution, bits_of(x));

    const auto [report, y] = [&] {
      Field<real<double>> y(n);
      BiCGStab solver(A, {.tolerance = 1e-8});
      return std::pair(solver.solve(b, y), std::move(y));
    }();
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_TRUE(true_residual(matrix, b, y) <= 1e-8 * components_of<double>(b).norm() * 1.001);
  }
}

TEST(MatrixFree, ShiftedAndSummedOperators) {
  using E = quaternion<double>;
  for (const char* plan : {"CSR", "K1rs,sigma=64", "C=4,sigma=n,vector=soa"}) {
    SCOPED_TRACE(plan);
    Generator generator(5);
    const Index n = 300;
    const System<E> first = random_system<E>(n, 3, 0.05, 0, generator);
    const System<E> second = random_system<E>(n, 2, 0.05, 0.3, generator);
    const Operator<E> A(first.matrix, parse_plan(plan));
    const auto b = random_vector<E>(n, generator);
    Tiles<E> shifted(n), summed(n);
    for (Index i = 0; i < n; ++i) shifted.at(i, i) += 0.75 * Eigen::Matrix4d::Identity();
    for (const CsrMatrix<E>* matrix : {&first.matrix, &second.matrix}) {
      for (Index row = 0; row < n; ++row) {
        for (Offset e = matrix->offsets()[row]; e < matrix->offsets()[row + 1]; ++e) {
          const Eigen::MatrixXd tile = tile_of(matrix->entry(e));
          if (matrix == &first.matrix) shifted.at(row, matrix->column()[e]) += tile;
          summed.at(row, matrix->column()[e]) += tile;
        }
      }
    }
    {
      const Shifted<double> B(A, 0.75);
      Field<E> x(n);
      ConjugateGradient cg(B);
      expect_solved(cg.solve(b, x), shifted.assemble(), b, x);
    }
    {
      const Operator<E> other(second.matrix, parse_plan(plan), A.row_basis());
      const Sum<double> B(A, other);
      Field<E> x(n);
      BiCGStab solver(B);
      expect_solved(solver.solve(b, x), summed.assemble(), b, x);
    }
  }
}

class Rectangular final : public LinearOperator<double> {
 public:
  Index rows() const override { return 3; }
  Index columns() const override { return 4; }
  void apply(double, const FieldView<const double>&, double, const FieldView<double>&,
             const Stream&) const override {}
};
TEST(MatrixFree, RectangularOperatorsAreRefused) {
  try {
    ConjugateGradient cg{Rectangular()};
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::size_mismatch);
    EXPECT_EQ(std::string(error.what()),
              "a solver needs a square operator, this one is 3 x 4 with 1 x 1 components");
  }
}

}  // namespace
}  // namespace heddle::test
