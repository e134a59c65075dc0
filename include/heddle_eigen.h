/* The smallest eigenpairs of Hermitian operators.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_EIGEN_H
#define HEDDLE_EIGEN_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_eigen_report {
  size_t struct_size; /* sizeof(heddle_eigen_report), set by the caller */
  heddle_outcome outcome;
  int32_t restarts;
  int64_t iterations;
  int64_t products;   /* of A with one vector */
  double matrix_norm; /* |A v| / |v| for a random v */
  double mass_norm;   /* the same of M; 1 without one */
  double seconds;
} heddle_eigen_report;

/* The mass operator M of a square matrix for `heddle_eigen_solve` with A: stored under A's plan and
 * in its order, on its device. */
HEDDLE_API heddle_status heddle_operator_create_mass(const heddle_matrix *mass,
                                                     const heddle_operator *A,
                                                     heddle_operator **result);

/* LOBPCG: the `count` smallest eigenvalues of A x = M x lambda, 1 to 16, and their vectors. A is
 * Hermitian; M, from `heddle_operator_create_mass`, Hermitian positive definite, or NULL for I. The
 * preconditioner, or NULL, is one of A, Hermitian and positive definite. The settings are guard,
 * tolerance, max_iterations, time_limit and seed.
 *
 * `x`: an array of `count` views, guesses on entry, zeros for random ones, and M-orthonormal vectors
 * on return. `eigenvalues`, in ascending order, `residuals`, |A x - M x lambda| / ((|A| + |lambda|
 * |M|) |x|), and `error_estimates` of the eigenvalues are arrays of `count` numbers. They and x are
 * written unless the outcome shows that there are no pairs: HEDDLE_INDEFINITE, HEDDLE_NOT_FINITE,
 * and if no first vectors can be made. The last two arrays and `report` may be NULL. `detail`, if it
 * is not NULL, receives words on the outcome, which `capacity` may cut off. HEDDLE_ERROR_UNSUPPORTED
 * for an operator that ranks share. */
HEDDLE_API heddle_status heddle_eigen_solve(const heddle_operator *A, const heddle_operator *mass,
                                            const heddle_preconditioner *preconditioner,
                                            const heddle_settings *settings, int64_t count,
                                            const heddle_view *x, double *eigenvalues,
                                            double *residuals, double *error_estimates,
                                            char *detail, size_t capacity,
                                            heddle_eigen_report *report);

#ifdef __cplusplus
}
#endif

#endif
