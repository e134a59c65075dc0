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

/* Cycle, smoother, interpolation and the precision of levels are said by the preconditioner's text,
 * all of them by "multigrid:k:gauss-seidel:plain:single". One of coordinates, candidates and
 * adaptive. */
typedef struct heddle_multigrid_options {
  size_t struct_size;
  double strength;           /* rows are aggregated where |a_ij| is larger than so much of
                                sqrt(|a_ii a_jj|), and by less where that aggregates too few; 0.08 */
  const double *coordinates; /* of each row of block2 or block3 entries, so many numbers: coarse
                                levels have the motions of a rigid body; NULL */
  int64_t candidate_count;   /* up to 6; 0: constants */
  const heddle_view *candidates; /* fields that A nearly maps to 0, in the host's memory */
  int32_t adaptive;              /* not 0: such fields are found from random ones */
  int32_t estimates_again;       /* not 0: new values have the largest eigenvalues of all levels
                                    estimated anew, on the CPU; 0: where they seem to grow */
} heddle_multigrid_options;
/* As heddle_operator_options_init, with sizeof(heddle_multigrid_options). */
HEDDLE_API void heddle_multigrid_options_init(heddle_multigrid_options *options, size_t size);

/* As heddle_preconditioner_create, of a text that names multigrid; copies what the options name. */
HEDDLE_API heddle_status heddle_preconditioner_create_multigrid(
    const heddle_operator *A, const char *text, const heddle_multigrid_options *options,
    heddle_preconditioner **result);

/* Least squares ------------------------------------------------------------------------------ */

typedef struct heddle_least_squares heddle_least_squares;

typedef struct heddle_least_squares_options {
  size_t struct_size;
  double damping;   /* d of |A x - b|^2 + d^2 |x|^2; 0 */
  double tolerance; /* on |A* r - d^2 x| / (|A| |r|), or on |r| / (|b| + |A| |x|), r = b - A x;
                       -1: 1e-8 in double, 1e-5 in single precision */
  int64_t max_iterations;   /* 10000 */
  double time_limit;        /* seconds; infinity */
  heddle_observer observer; /* of |A* r - d^2 x| / (|A| |r|), before each iteration; NULL */
  void *user;               /* for the observer */
} heddle_least_squares_options;
/* As heddle_operator_options_init, with sizeof(heddle_least_squares_options). */
HEDDLE_API void heddle_least_squares_options_init(heddle_least_squares_options *options,
                                                  size_t size);

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
 * operator, whose handle may go; `options` may be NULL. */
HEDDLE_API heddle_status heddle_least_squares_create(const heddle_operator *A,
                                                     const heddle_least_squares_options *options,
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
