/* Further inputs of some methods and preconditioners: null spaces, multigrid, and least squares;
 * and a choice of method.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_METHODS_H
#define HEDDLE_METHODS_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Choices ------------------------------------------------------------------------------------- */

/* The preconditioner that the command line takes if none is named: "jacobi" if a diagonal entry of
 * the matrix has an inverse, else "none", also for an `A` that is shifted. `A` may be NULL.
 * `preconditioner` receives a text that stays valid. `reason`, if it is not NULL, receives the
 * reason in words, which `capacity` may cut off, and a terminating 0. */
HEDDLE_API heddle_status heddle_choose_preconditioner(const heddle_matrix *matrix,
                                                      const heddle_operator *A,
                                                      const char **preconditioner, char *reason,
                                                      size_t capacity);

/* A method that suits the matrix, chosen as by the command line's `--solver auto`: looks at all
 * entries and, if `A`, the operator of `matrix`, is not NULL, also at some products.
 * `preconditioner`: a text, "auto" for that of `heddle_choose_preconditioner`; NULL for none.
 * `method` receives a name that stays valid. */
HEDDLE_API heddle_status heddle_choose_method(const heddle_matrix *matrix, const heddle_operator *A,
                                              const char *preconditioner, const char **method);

/* The method that the command line's `--solver auto` takes after a solve by `method`, which it
 * chose, has ended with `outcome` after `iterations` iterations: bicgstab if the matrix is not
 * Hermitian, minres if it is indefinite, gmres if bicgstab broke down or stagnated. `other`
 * receives NULL if no other method would help, such as after a solve that converged, else a name
 * that stays valid. `reason` and `capacity` are as above. */
HEDDLE_API heddle_status heddle_choose_other_method(heddle_context *context, const char *method,
                                                    heddle_outcome outcome, int64_t iterations,
                                                    const char **other, char *reason,
                                                    size_t capacity);

/* A better form for the matrix, in a sentence without a full stop, copied as by `heddle_message`:
 * compound entries, if a matrix of numbers consists of small dense tiles; "" if none is found.
 * Looks at some of the rows. */
HEDDLE_API size_t heddle_matrix_advice(const heddle_matrix* matrix, char* buffer, size_t capacity);

/* Singular systems --------------------------------------------------------------------------- */

/* Vectors v with A v = 0 and v* A = 0: systems are solved in the space orthogonal to them, and b is
 * projected into it. Copies the vectors; `count` = 0 removes them. Waits for an enqueued solve; a
 * graph of the caller's that contains one must not be launched any more. */
HEDDLE_API heddle_status heddle_solver_set_null_space(heddle_solver *solver, int64_t count,
                                                      const heddle_view *vectors);

/* Multigrid ---------------------------------------------------------------------------------- */

/* heddle_preconditioner_create makes it from a text that names multigrid. Its settings are cycle,
 * smoother, interpolation, level_precision, strength, candidates (adaptive) and estimates_again.
 * Only one of coordinates, candidates and adaptive candidates may be given. */

/* Two numbers for each row of block2 entries, or three of block3: coarse levels then contain the
 * motions of a rigid body. The numbers are read when the settings are used, and remain the
 * caller's; NULL: none. */
HEDDLE_API heddle_status heddle_settings_use_coordinates(heddle_settings *settings,
                                                         const double *coordinates);
/* Up to 6 fields that A nearly maps to 0, in the host's memory, likewise; `count` = 0:
 * constants. */
HEDDLE_API heddle_status heddle_settings_use_candidates(heddle_settings *settings, int64_t count,
                                                        const heddle_view *candidates);

/* Least squares ------------------------------------------------------------------------------ */

typedef struct heddle_least_squares heddle_least_squares;

typedef struct heddle_least_squares_report {
  size_t struct_size; /* sizeof(heddle_least_squares_report), set by the caller */
  heddle_outcome outcome;
  int32_t restarts;
  int64_t iterations;
  double residual_norm; /* |b - A x|; true, like the next three */
  double gradient_norm; /* |A* r - d^2 x| */
  double residual;      /* |r| / |b|, where |r| counts d x */
  double gradient;      /* |A* r - d^2 x| / (|A| |r|) */
  double solution_norm; /* |x| */
  double matrix_norm;   /* a lower bound of |A|; with damping, this and the next are of [A; d I] */
  double condition;     /* an estimate */
  double seconds;       /* time of the iterations */
} heddle_least_squares_report;

/* LSMR: minimizes |A x - b|^2 + d^2 |x|^2 for an A of any shape that has an adjoint. Shares the
 * operator, whose handle may be destroyed afterwards. The settings are damping (d), tolerance,
 * max_iterations and time_limit. */
HEDDLE_API heddle_status heddle_least_squares_create(const heddle_operator *A,
                                                     const heddle_settings *settings,
                                                     heddle_least_squares **solver);
/* b has a row for each row of A, x one for each column. Starts from the guess in x, and writes x.
 * `report` may be NULL. */
HEDDLE_API heddle_status heddle_least_squares_solve(heddle_least_squares *solver,
                                                    const heddle_view *b, const heddle_view *x,
                                                    heddle_least_squares_report *report);
HEDDLE_API void heddle_least_squares_destroy(heddle_least_squares **solver);

#ifdef __cplusplus
}
#endif

#endif
