/* What some methods and preconditioners take beside the rest: null spaces, multigrid, and least
 * squares; and a choice of method.
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

/* The preconditioner that the command line takes where none is named: "jacobi" where every diagonal
 * entry of the matrix has an inverse, else "none", as for an `A` that is shifted. `A` may be NULL.
 * `preconditioner` gets a text that lasts. `reason`, if it is not NULL, gets why in words, which
 * `capacity` may cut off, and a 0 behind them. */
HEDDLE_API heddle_status heddle_choose_preconditioner(const heddle_matrix *matrix,
                                                      const heddle_operator *A,
                                                      const char **preconditioner, char *reason,
                                                      size_t capacity);

/* A method that suits the matrix, as the command line's `--solver auto` chooses: looks at all
 * entries, and where `A`, the operator of `matrix`, is not NULL also at some products.
 * `preconditioner`: a text, "auto" for that of `heddle_choose_preconditioner`; NULL for none.
 * `method` gets a name that lasts. */
HEDDLE_API heddle_status heddle_choose_method(const heddle_matrix *matrix, const heddle_operator *A,
                                              const char *preconditioner, const char **method);

/* The method that the command line's `--solver auto` takes after a solve by `method`, which it
 * chose, has ended as `outcome` after so many `iterations`: bicgstab where the matrix is not
 * Hermitian, minres where it is indefinite, gmres where bicgstab broke down or stagnated.
 * `other` gets NULL where another method would help no more, as after a solve that converged, else
 * a name that lasts.
 * `reason` and `capacity` as above. */
HEDDLE_API heddle_status heddle_choose_other_method(heddle_context *context, const char *method,
                                                    heddle_outcome outcome, int64_t iterations,
                                                    const char **other, char *reason,
                                                    size_t capacity);

/* How the matrix is better given, in a sentence without a full stop, copied as `heddle_message`
 * does: entries for small dense tiles, where a matrix of numbers consists of such; "" where nothing
 * is seen. Looks at some of the rows. */
HEDDLE_API size_t heddle_matrix_advice(const heddle_matrix* matrix, char* buffer, size_t capacity);

/* Singular systems --------------------------------------------------------------------------- */

/* Vectors v with A v = 0 and v* A = 0: systems are solved in the space orthogonal to them, and b is
 * projected into it. Copies them; none, `count` = 0, ends that. Waits for an enqueued solve; a
 * graph of the caller's that holds one must not be launched any more. */
HEDDLE_API heddle_status heddle_solver_set_null_space(heddle_solver *solver, int64_t count,
                                                      const heddle_view *vectors);

/* Multigrid ---------------------------------------------------------------------------------- */

/* heddle_preconditioner_create makes it, of a text that names multigrid; its settings are cycle,
 * smoother, interpolation, level_precision, strength, candidates (adaptive) and estimates_again. Of
 * coordinates, candidates and adaptive ones there is one. */

/* Two numbers for each row of block2 entries, or three of block3: coarse levels have the motions of a
 * rigid body. They are read where the settings are used, and stay the caller's; NULL: none. */
HEDDLE_API heddle_status heddle_settings_use_coordinates(heddle_settings *settings,
                                                         const double *coordinates);
/* Up to 6 fields that A nearly maps to 0, in the host's memory, likewise; 0: constants. */
HEDDLE_API heddle_status heddle_settings_use_candidates(heddle_settings *settings, int64_t count,
                                                        const heddle_view *candidates);

/* Least squares ------------------------------------------------------------------------------ */

typedef struct heddle_least_squares heddle_least_squares;

typedef struct heddle_least_squares_report {
  size_t struct_size; /* sizeof(heddle_least_squares_report), set by the caller */
  heddle_outcome outcome;
  int32_t restarts;
  int64_t iterations;
  double residual_norm; /* |b - A x|, true, as the next three */
  double gradient_norm; /* |A* r - d^2 x| */
  double residual;      /* |r| / |b|, where |r| counts d x */
  double gradient;      /* |A* r - d^2 x| / (|A| |r|) */
  double solution_norm; /* |x| */
  double matrix_norm;   /* |A|, from below; with damping, as the next, of A over d */
  double condition;     /* an estimate */
  double seconds;       /* of the iterations */
} heddle_least_squares_report;

/* LSMR: minimizes |A x - b|^2 + d^2 |x|^2 for an A of any shape that has an adjoint. Shares the
 * operator, whose handle may go. The settings are damping (d), tolerance, max_iterations and
 * time_limit. */
HEDDLE_API heddle_status heddle_least_squares_create(const heddle_operator *A,
                                                     const heddle_settings *settings,
                                                     heddle_least_squares **solver);
/* b has a row for each row of A, x for each of its columns: from the guess in x, and writes x.
 * `report` may be NULL. */
HEDDLE_API heddle_status heddle_least_squares_solve(heddle_least_squares *solver,
                                                    const heddle_view *b, const heddle_view *x,
                                                    heddle_least_squares_report *report);
HEDDLE_API void heddle_least_squares_destroy(heddle_least_squares **solver);

#ifdef __cplusplus
}
#endif

#endif
