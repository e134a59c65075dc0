/* Heddle from C: sparse linear systems with compound entries. C99; docs/reference/c.md is the
 * guide. This header includes the headers for streams, methods, edits, ranks and tuning.
 *
 * Calls return a `heddle_status`. The context keeps a one-line message of the last failure for each
 * thread (`heddle_message`). No call ends the process, and no C++ exception escapes from one. An
 * object keeps the objects that it needs alive, so handles may be destroyed in any order.
 * Destroying sets the caller's pointer to NULL; destroying NULL does nothing. Memory that a view
 * names remains the caller's. Several threads may use one context, matrix or operator at once as
 * long as no thread sets new values; a solver in use by one thread refuses the others
 * (HEDDLE_ERROR_BUSY).
 *
 * Structs that begin with `struct_size` only grow at their end: a program keeps working with a
 * newer library, which reads and writes no more than the program's size. */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

/* In C an enumeration may hold any number, and calls refuse unknown ones; in C++ this needs a fixed
 * underlying type. */
#ifdef __cplusplus
#define HEDDLE_ENUM(name) enum name : int
#else
#define HEDDLE_ENUM(name) enum name
#endif

/* Objects ------------------------------------------------------------------------------------ */

typedef struct heddle_context heddle_context;   /* keeps the last message */
typedef struct heddle_matrix heddle_matrix;     /* assembled: compressed sparse rows */
typedef struct heddle_operator heddle_operator; /* a matrix stored for products, or a callback */
typedef struct heddle_preconditioner heddle_preconditioner;
typedef struct heddle_solver heddle_solver;
typedef struct heddle_settings heddle_settings; /* by name, for any call */
typedef struct heddle_profile heddle_profile; /* measured plans of matrices, on one device */

typedef HEDDLE_ENUM(heddle_status) {
  HEDDLE_OK = 0,
  HEDDLE_ERROR_USAGE = 1,          /* an argument, or a combination of them, without a meaning */
  HEDDLE_ERROR_MALFORMED_FILE = 2, /* with file:line */
  HEDDLE_ERROR_SIZE_MISMATCH = 3,  /* operands that do not match in size or precision */
  HEDDLE_ERROR_OUT_OF_RANGE = 4,   /* a row or column that does not exist */
  HEDDLE_ERROR_NOT_FINITE = 5,
  HEDDLE_ERROR_SINGULAR = 6, /* a preconditioner that cannot be made; the message names a row */
  HEDDLE_ERROR_UNSUPPORTED = 7,
  HEDDLE_ERROR_BAD_PLAN = 8,
  HEDDLE_ERROR_NO_DEVICE = 9,
  HEDDLE_ERROR_MEMORY = 10,
  HEDDLE_ERROR_IO = 11,
  HEDDLE_ERROR_INTERNAL = 12,
  HEDDLE_ERROR_CALLBACK = 13, /* the caller's own function did not return 0 */
  HEDDLE_ERROR_BUSY = 14      /* the solver is in use by another call */
} heddle_status;

/* Arrays ------------------------------------------------------------------------------------- */

/* The entries of a matrix. A row of a vector is what such an entry acts on. The numbers below are
 * the scalars of an entry / of a row of a vector. */
typedef HEDDLE_ENUM(heddle_entry) {
  HEDDLE_NUMBERS = -1,        /* for heddle_matrix_read: real or complex, like the file's numbers */
  HEDDLE_REAL = 0,            /*  1 /  1 */
  HEDDLE_COMPLEX = 1,         /*  2 /  2: real part, imaginary part */
  HEDDLE_QUATERNION = 2,      /*  4 /  4: w, x, y, z */
  HEDDLE_DUAL_QUATERNION = 3, /*  8 /  8: w, x, y, z of the standard part, then of the dual part */
  HEDDLE_BLOCK2 = 4,          /*  4 /  2: a 2 x 2 block */
  HEDDLE_BLOCK3 = 5,          /*  9 /  3 */
  HEDDLE_BLOCK4 = 6,          /* 16 /  4 */
  HEDDLE_BLOCK6 = 7,          /* 36 /  6 */
  HEDDLE_COMPLEX_BLOCK3 = 8   /* 18 /  6 */
} heddle_entry;

/* Defines an entry by `json` (docs/reference/file-formats.md). `entry` receives a number, 1024 or
 * more, that is valid in this context and for objects made with it; the same text has the same
 * number. The other two receive the scalars of an entry and of a row of a vector, and may be
 * NULL. */
HEDDLE_API heddle_status heddle_define_entry(heddle_context *context, const char *json,
                                             heddle_entry *entry, int32_t *entry_scalars,
                                             int32_t *row_scalars);

typedef HEDDLE_ENUM(heddle_precision) { HEDDLE_SINGLE = 0, HEDDLE_DOUBLE = 1 } heddle_precision;

typedef HEDDLE_ENUM(heddle_layout) {
  HEDDLE_ROW_MAJOR = 0,    /* one entry after the other, blocks row by row */
  HEDDLE_COLUMN_MAJOR = 1, /* values of a matrix: one entry after the other, blocks by columns */
  HEDDLE_BY_COMPONENT = 2  /* vectors: all first components, then all second ones, ... */
} heddle_layout;

typedef HEDDLE_ENUM(heddle_location) {
  HEDDLE_HOST = 0,
  HEDDLE_DEVICE = 1 /* memory of the operator's GPU; not for values of a heddle_matrix */
} heddle_location;

/* The caller's scalars, contiguous. A call writes to a view only where it says so. */
typedef struct heddle_view {
  void *data;
  int64_t count; /* entries of a matrix, rows of a vector */
  heddle_entry entry;
  heddle_precision precision;
  heddle_layout layout;
  heddle_location location;
} heddle_view;

/* The places of the entries of a matrix. For compressed sparse rows, `row` holds rows + 1 offsets;
 * for triplets, the row of each entry. Indices count from `base`, 0 or 1. */
typedef struct heddle_pattern {
  size_t struct_size; /* sizeof(heddle_pattern) */
  int64_t rows, columns, entries;
  const void *row;
  const void *column;
  int32_t row_bits; /* bits of each number in `row`: 32 or 64 */
  int32_t column_bits;
  int32_t base;
} heddle_pattern;

/* Context ------------------------------------------------------------------------------------ */

HEDDLE_API heddle_status heddle_context_create(heddle_context **context);
HEDDLE_API void heddle_context_destroy(heddle_context **context);
/* Copies an error message with a terminating zero, as far as `capacity` has room. It is the message
 * of the last call that failed in the calling thread, with this context or because its object was
 * NULL; if none failed there, that of the last failure in any thread. The message is one line of
 * printable UTF-8: a '?' stands for each byte or character of a path or name that is not. Returns
 * its length without the zero, or 0 if no call failed. Without a context it reports only calls
 * whose object was NULL. */
HEDDLE_API size_t heddle_message(const heddle_context *context, char *buffer, size_t capacity);

HEDDLE_API const char *heddle_version(void); /* "0.1.0" */
/* The library and its machine, for reports of errors, as a JSON object: versions, files, what was
 * compiled in, GPUs, folders, environment. Copied as by `heddle_message`. */
HEDDLE_API size_t heddle_configuration(char *buffer, size_t capacity);
/* "usage", "no device", ...; NULL for a number that is not a status. */
HEDDLE_API const char *heddle_status_name(heddle_status status);
/* "real", "quaternion", ...; NULL for a number that is not one of the library's own entries. */
HEDDLE_API const char *heddle_entry_name(heddle_entry entry);
/* Scalars of an entry, and of a row of a vector; 0 for a number that is not one of the library's
 * own entries. */
HEDDLE_API int32_t heddle_entry_scalars(heddle_entry entry);
HEDDLE_API int32_t heddle_row_scalars(heddle_entry entry);

/* Settings ----------------------------------------------------------------------------------- */

/* Settings by name, for any call: docs/reference/settings.md lists them. A call takes those that
 * are its own, and the defaults for the rest; NULL as `settings` stands for none. They may be
 * changed and destroyed after the call. */
HEDDLE_API heddle_status heddle_settings_create(heddle_context *context,
                                                heddle_settings **settings);
/* Sets, for example, "tolerance" to "1e-8". An unknown name or a value out of its range is refused
 * at once, and the message names it. NULL as value restores the default. */
HEDDLE_API heddle_status heddle_settings_set(heddle_settings *settings, const char *name,
                                             const char *value);
HEDDLE_API heddle_status heddle_settings_set_number(heddle_settings *settings, const char *name,
                                                    double value);
/* Sets all members of a JSON object, {"tolerance": 1e-8, "restart": 50}, or none of them. */
HEDDLE_API heddle_status heddle_settings_set_json(heddle_settings *settings, const char *json);
/* The settings given so far, as a JSON object; copied as by `heddle_message`. */
HEDDLE_API size_t heddle_settings_json(const heddle_settings *settings, char *buffer,
                                       size_t capacity);
/* All settings that exist, as a JSON array of objects with use, name, alias, kind, value, values,
 * default, help and taken_by. Copied as by `heddle_message`. */
HEDDLE_API size_t heddle_settings_table(char *buffer, size_t capacity);
HEDDLE_API void heddle_settings_destroy(heddle_settings **settings);

/* Matrices ----------------------------------------------------------------------------------- */

/* Copies the arrays. No row may name a column twice. */
HEDDLE_API heddle_status heddle_matrix_from_csr(heddle_context *context,
                                                const heddle_pattern *pattern,
                                                const heddle_view *values, heddle_matrix **matrix);
/* Triplets in any order; those for the same place are summed in the order given. */
HEDDLE_API heddle_status heddle_matrix_from_triplets(heddle_context *context,
                                                     const heddle_pattern *pattern,
                                                     const heddle_view *values,
                                                     heddle_matrix **matrix);
/* A Matrix Market or SciPy .npz file, see docs/reference/file-formats.md. The entry may be
 * HEDDLE_NUMBERS. */
HEDDLE_API heddle_status heddle_matrix_read(heddle_context *context, const char *path,
                                            heddle_entry entry, heddle_precision precision,
                                            heddle_matrix **matrix);
/* The end of the name selects the format: .npz, .mtx.gz or .mtx. For matrices in double
 * precision. */
HEDDLE_API heddle_status heddle_matrix_write(const heddle_matrix *matrix, const char *path);
/* A model problem of docs/reference/problems.md: poisson, elasticity, helmholtz, dirac; the same
 * size and seed make the same matrix. */
HEDDLE_API heddle_status heddle_matrix_generate(heddle_context *context, const char *problem,
                                                int64_t size, uint64_t seed,
                                                heddle_matrix **matrix);
HEDDLE_API void heddle_matrix_destroy(heddle_matrix **matrix);

/* Vectors in files, with as many rows as the view, which lies in the host's memory. Reading fills
 * the view from a Matrix Market array, a .npy file or a text of numbers (real numbers become the
 * real parts of complex ones). Writing takes the format from the end of the name: .mtx, .mtx.gz,
 * .npy, .txt or .txt.gz. */
HEDDLE_API heddle_status heddle_vector_read(heddle_context *context, const char *path,
                                            const heddle_view *x);
HEDDLE_API heddle_status heddle_vector_write(heddle_context *context, const heddle_view *x,
                                             const char *path);

/* Sets new values for all entries, row by row; operators made before keep their values. */
HEDDLE_API heddle_status heddle_matrix_update_values(heddle_matrix *matrix,
                                                     const heddle_view *values);
/* The matrix's own arrays, valid as long as the matrix; they must not be written to. Columns have
 * 32 bits, row offsets 64. The caller sets `pattern->struct_size`. */
HEDDLE_API heddle_status heddle_matrix_arrays(const heddle_matrix *matrix, heddle_pattern *pattern,
                                              heddle_view *values);

typedef struct heddle_info {
  size_t struct_size; /* sizeof(heddle_info), set by the caller */
  int64_t rows, columns, entries;
  heddle_entry entry;
  heddle_precision precision;
  int64_t shortest_row, longest_row, empty_rows, bandwidth;
  double mean_row;
  /* The rest is for square matrices, else 0: */
  int64_t missing_diagonal;  /* rows without a diagonal entry */
  int64_t singular_diagonal; /* other rows whose diagonal entry has no inverse */
  int32_t symmetric_pattern;
  int32_t has_adjoint;     /* true if the entries have one; then the next field has a meaning */
  double hermitian_defect; /* the largest |a_ij - a_ji*| over the largest |a| */
} heddle_info;

/* Looks at all entries. */
HEDDLE_API heddle_status heddle_matrix_info(const heddle_matrix *matrix, heddle_info *info);

/* Operators ---------------------------------------------------------------------------------- */

/* Memory for arrays of the operator and of objects made with it; on a GPU, memory of that GPU,
 * ready at once. `alignment` is a power of 2, at most 256. If no memory is left, `allocate` returns
 * NULL, and the call fails with HEDDLE_ERROR_MEMORY. Both functions may be called from any thread,
 * until all those objects are gone. On a GPU `release` is called in the order of the operator's
 * stream, possibly before the GPU has reached that point: work queued on that stream may still use
 * the memory. Its next user must therefore use it on that stream, or wait for the stream. */
typedef struct heddle_allocator {
  void *(*allocate)(void *user, size_t bytes, size_t alignment);
  void (*release)(void *user, void *data, size_t bytes, size_t alignment);
  void *user;
} heddle_allocator;

/* The allocator for all that is made with these settings. */
HEDDLE_API heddle_status heddle_settings_use_allocator(heddle_settings *settings,
                                                       const heddle_allocator *allocator);
/* The stream, a cudaStream_t, for all that is made with these settings, which it must outlive;
 * NULL: the library's own. */
HEDDLE_API heddle_status heddle_settings_use_stream(heddle_settings *settings, void *stream);

/* Stores the matrix on a device. The settings are device, threads, plan, storage and, for
 * hierarchical storage, node, dense and launch. `matrix` may be destroyed afterwards. */
HEDDLE_API heddle_status heddle_operator_create(const heddle_matrix *matrix,
                                                const heddle_settings *settings,
                                                heddle_operator **result);

/* y = A x, or z = M^-1 r, computed by the caller. The views are HEDDLE_ROW_MAJOR, and alias the
 * solver's own memory if its order is the caller's. Returns 0; any other number ends the call that
 * led here with HEDDLE_ERROR_CALLBACK.
 *
 * For an operator on a GPU the views are in that GPU's memory, in the order of the operator's
 * stream (heddle_operator_stream): x is ready for work queued there, and y must be ready for work
 * queued there later. The callback sets CUDA's current device itself. The host drives such solves;
 * they cannot be enqueued.
 *
 * The library calls it in the thread that solves or multiplies, hence in several threads at once if
 * several use the operator. `user` must outlive every object made with the callback and every
 * object made from those: a solver continues to call it after the handles of its operator and
 * preconditioner are destroyed. A callback must not destroy an object that is in use, throw, or
 * leave by longjmp. */
typedef int (*heddle_apply)(void *user, const heddle_view *x, const heddle_view *y);

/* A square operator without a matrix, on the CPU. */
HEDDLE_API heddle_status heddle_operator_from_callback(heddle_context *context, int64_t rows,
                                                       heddle_entry entry,
                                                       heddle_precision precision,
                                                       heddle_apply apply, void *user,
                                                       heddle_operator **result);
/* The same on the device that the settings name, with their stream and allocator. */
HEDDLE_API heddle_status heddle_operator_from_callback_on(
    heddle_context *context, const heddle_settings *settings, int64_t rows,
    heddle_entry entry, heddle_precision precision, heddle_apply apply, void *user,
    heddle_operator **result);
/* The same for an operator of any shape, from x of `columns` rows. `apply_adjoint` computes A*, with
 * the same `user`; NULL for an operator without an adjoint, which least squares need. */
HEDDLE_API heddle_status heddle_operator_from_callbacks(
    heddle_context *context, const heddle_settings *settings, int64_t rows, int64_t columns,
    heddle_entry entry, heddle_precision precision, heddle_apply apply, heddle_apply apply_adjoint,
    void *user, heddle_operator **result);
/* A*, which multiplies with the values that A has at the time, as its preconditioners do. The named
 * preconditioners of the adjoint of a tree, and of the adjoint's adjoint, need no entries. */
HEDDLE_API heddle_status heddle_operator_adjoint(const heddle_operator *A,
                                                 heddle_operator **adjoint);
/* A + sigma I, likewise; its named preconditioners are those that need no entries. */
HEDDLE_API heddle_status heddle_operator_shifted(const heddle_operator *A, double sigma,
                                                 heddle_operator **shifted);
HEDDLE_API void heddle_operator_destroy(heddle_operator **A);

/* Sets new values for all entries, row by row, in the order of the matrix. Solvers and
 * preconditioners of this operator take them at their next solve. Must not run at the same time as
 * a solve or a product. Values in the GPU's memory are read in the order of the operator's stream,
 * possibly after this returns; heddle_operator_synchronize waits for that. */
HEDDLE_API heddle_status heddle_operator_update_values(heddle_operator *A,
                                                       const heddle_view *values);
/* y = A x; writes y. */
HEDDLE_API heddle_status heddle_operator_apply(const heddle_operator *A, const heddle_view *x,
                                               const heddle_view *y);
HEDDLE_API heddle_status heddle_operator_size(const heddle_operator *A, int64_t *rows,
                                              int64_t *columns);
/* The text of the plan, copied as by `heddle_message`; "" for a callback, an adjoint and NULL. */
HEDDLE_API size_t heddle_operator_plan(const heddle_operator *A, char *buffer, size_t capacity);

/* Preconditioners ---------------------------------------------------------------------------- */

/* `text` is that of the command line's --preconditioner: "jacobi", "block-jacobi:2", "jacobi*fsai",
 * "none", "multigrid". "auto" is jacobi unless a diagonal entry is not finite; then, and without
 * stored entries, none. The settings are those of multigrid. */
HEDDLE_API heddle_status heddle_preconditioner_create(const heddle_operator *A, const char *text,
                                                      const heddle_settings *settings,
                                                      heddle_preconditioner **result);
/* The caller's own preconditioner. `varies`: not 0 if the map may change from one application to
 * the next; then only flexible methods take it. Methods for Hermitian matrices need a Hermitian
 * one. */
HEDDLE_API heddle_status heddle_preconditioner_from_callback(const heddle_operator *A,
                                                             heddle_apply apply, void *user,
                                                             int32_t varies,
                                                             heddle_preconditioner **result);
/* z = M^-1 r, for a loop of the caller's: vectors of the operator in either layout that do not
 * overlap. On the CPU `stream` is NULL. On a GPU it is a cudaStream_t, cudaStreamLegacy for the
 * default stream, NULL for the operator's own; the vectors lie in its memory or, with a wait, the
 * host's. The call follows the work that `stream` holds, and returns before it is done, unless the
 * host drives the preconditioner: cr, gmres, direct, and callbacks. It allocates memory only the
 * first time, and after that may be captured, for vectors of the GPU that are aligned as the first
 * were; the operator's stream is part of the capture until it ends, as in `heddle_solver_enqueue`. A
 * preconditioner makes one application at a time, also next to its solvers'. Those whose rows ranks
 * share are refused. */
HEDDLE_API heddle_status heddle_preconditioner_apply(heddle_preconditioner *preconditioner,
                                                     const heddle_view *r, const heddle_view *z,
                                                     void *stream);
/* z = (M^-1)* r, likewise. fsai and multigrid are Hermitian, and direct alone has its adjoint in its
 * factors; jacobi, block-jacobi with a number, neumann, and what is composed of all these have an
 * adjoint, which the first call makes if A stores the entries of A*, as a tree does not.
 * HEDDLE_ERROR_UNSUPPORTED for all others. */
HEDDLE_API heddle_status heddle_preconditioner_apply_adjoint(heddle_preconditioner *preconditioner,
                                                             const heddle_view *r,
                                                             const heddle_view *z, void *stream);
/* Renews M, and its adjoint if that was made, after `heddle_operator_update_values`; until then, or
 * for M until a solve with it, applications use what was computed from the old values. (chebyshev,
 * neumann, cr, gmres and combinations by `,` also multiply by A, which has the new ones at once.) In
 * the order of `stream`, as above; it may be captured for jacobi, block-jacobi, fsai, isai, neumann,
 * multigrid whose levels a GPU makes in full precision (not with gauss-seidel, l1-jacobi or a
 * singular coarsest level), and what is composed of them. Multigrid then keeps its estimates of
 * eigenvalues, and replays do not report values for which no M exists. Nor do they mark the values
 * as new: for a call outside of the graph pass them to `heddle_operator_update_values` again.
 * HEDDLE_ERROR_SINGULAR if no M exists. */
HEDDLE_API heddle_status heddle_preconditioner_update(heddle_preconditioner *preconditioner,
                                                      void *stream);
HEDDLE_API void heddle_preconditioner_destroy(heddle_preconditioner **preconditioner);

/* Solvers ------------------------------------------------------------------------------------ */

typedef struct heddle_progress {
  int64_t iteration;
  double relative_residual; /* of the recurrence */
  double seconds;
} heddle_progress;

/* Called after each iteration in the thread that solves; returns 0 to continue, another number to
 * cancel. It may only read `progress`, which later versions may extend at the end. `user` must
 * outlive the solver. */
typedef int (*heddle_observer)(void *user, const heddle_progress *progress);

/* The observer of solvers made with these settings. Least squares calls it before each iteration,
 * with |A* r - d^2 x| / (|A| |r|). NULL: none. */
HEDDLE_API heddle_status heddle_settings_observe(heddle_settings *settings,
                                                 heddle_observer observer, void *user);

/* `method`: cg, bicgstab, bicgstab2, minres, gmres, fgmres, cocg, cocr, cr, chebyshev, richardson;
 * or block-cg, which solves up to 16 systems in one Krylov space, and supports neither enqueuing
 * nor a null space. `heddle_choose_method` chooses one. The solver shares the operator and the
 * preconditioner, which may be NULL for none; both handles may be destroyed afterwards. The
 * settings are those of a solver: tolerance, max_iterations, restart and others. */
HEDDLE_API heddle_status heddle_solver_create(const heddle_operator *A, const char *method,
                                              const heddle_preconditioner *preconditioner,
                                              const heddle_settings *settings,
                                              heddle_solver **solver);
HEDDLE_API void heddle_solver_destroy(heddle_solver **solver);

typedef HEDDLE_ENUM(heddle_outcome) {
  HEDDLE_CONVERGED = 0, /* |b - A x| was computed, and is within the tolerance */
  HEDDLE_ITERATION_LIMIT = 1,
  HEDDLE_TIME_LIMIT = 2,
  HEDDLE_CANCELLED = 3,
  HEDDLE_INDEFINITE = 4,
  HEDDLE_BREAKDOWN = 5,
  HEDDLE_STAGNATED = 6,
  HEDDLE_NOT_FINITE = 7,
  HEDDLE_ACCURACY_LIMIT = 8, /* rounding of x keeps the residual above the tolerance */
  HEDDLE_OUT_OF_RANGE = 9,
  HEDDLE_NOT_HERMITIAN = 10,
  HEDDLE_NOT_SYMMETRIC = 11
} heddle_outcome;

/* The x that a solve returns. */
typedef HEDDLE_ENUM(heddle_returned) {
  HEDDLE_RETURNED_LAST = 0, /* the x of the last iteration; also x = 0 for b = 0 */
  HEDDLE_RETURNED_BEST = 1, /* the x of the least true residual among those computed */
  HEDDLE_RETURNED_GUESS = 2
} heddle_returned;

typedef struct heddle_report {
  size_t struct_size; /* sizeof(heddle_report), set by the caller */
  heddle_outcome outcome;
  int32_t restarts;
  int64_t iterations;
  double residual;       /* |b - A x| / |b|, true, for the returned x */
  double residual_norm;  /* |b - A x| */
  double baseline_norm;  /* |b| */
  double target_norm;    /* the residual norm that counts as converged */
  double backward_error; /* NaN if no product was computed for it */
  double seconds;        /* time of the iterations; NaN for an enqueued solve */
  heddle_returned returned;
} heddle_report;

/* Solves A x = b from the guess in x, and writes x. HEDDLE_OK means that the solve ended; the
 * report's outcome says how. `report` may be NULL. */
HEDDLE_API heddle_status heddle_solver_solve(heddle_solver *solver, const heddle_view *b,
                                             const heddle_view *x, heddle_report *report);
/* Solves several systems with this matrix, side by side where that is faster: `b`, `x` and
 * `reports` are arrays of `systems` elements. Each system has the x and the report that it has when
 * solved alone, except for seconds. Every report has the struct_size of the first; `reports` may be
 * NULL. No x may share memory with others. */
HEDDLE_API heddle_status heddle_solver_solve_all(heddle_solver *solver, int64_t systems,
                                                 const heddle_view *b, const heddle_view *x,
                                                 heddle_report *reports);
/* Relative residuals from iteration 0 on, of the last solve (for several systems, of the first
 * one), or of the last solve that was waited for. The array is the solver's, and valid until its
 * next solve. It is empty unless the setting record_history requests it. HEDDLE_ERROR_BUSY while
 * the solver is in use. */
HEDDLE_API heddle_status heddle_solver_history(const heddle_solver *solver, const double **values,
                                               int64_t *count);
/* In an observer of this solver: copies the x that its iterations have reached, for gmres and fgmres
 * that of the last restart, to the caller's memory. HEDDLE_ERROR_USAGE elsewhere;
 * HEDDLE_ERROR_UNSUPPORTED on a GPU, for block-cg, with fields in single precision, and if ranks
 * share the rows. */
HEDDLE_API heddle_status heddle_solver_iterate(heddle_solver *solver, const heddle_view *x);
/* The last solve in words, copied as by `heddle_message`; "" before the first and during a
 * solve. */
HEDDLE_API size_t heddle_solver_summary(const heddle_solver *solver, char *buffer, size_t capacity);
/* Why a system of the last solve, counted from 0, ended as it did, and what to do about it,
 * likewise; "" if the outcome says all, and for a system that does not exist. */
HEDDLE_API size_t heddle_solver_detail(const heddle_solver *solver, int64_t system, char *buffer,
                                       size_t capacity);
/* "converged", "iteration limit", ...; NULL for a number that is not an outcome. */
HEDDLE_API const char *heddle_outcome_name(heddle_outcome outcome);

#ifdef __cplusplus
}
#endif

#include "heddle_edits.h"
#include "heddle_eigen.h"
#include "heddle_methods.h"
#include "heddle_ranks.h"
#include "heddle_stream_order.h"
#include "heddle_tuning.h"

#endif
