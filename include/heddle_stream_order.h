/* Work in the order of the streams of a GPU; docs/guide/embedding.md.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_STREAM_ORDER_H
#define HEDDLE_STREAM_ORDER_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's number of the operator's GPU; -1 on the CPU, and for NULL. */
HEDDLE_API int32_t heddle_operator_gpu(const heddle_operator *A);
/* The cudaStream_t on which its products and solves run; NULL on the CPU. */
HEDDLE_API void *heddle_operator_stream(const heddle_operator *A);
/* What the operator's stream gets from here on waits for what `stream`, a cudaStream_t of that GPU,
 * holds now; the host does not wait. cudaStreamLegacy names the default stream, not NULL. */
HEDDLE_API heddle_status heddle_operator_wait_for(const heddle_operator *A, void *stream);
/* Waits for what the operator's stream holds. */
HEDDLE_API heddle_status heddle_operator_synchronize(const heddle_operator *A);
/* to = from, two vectors of the operator in either memory and layout; zero where `from` is NULL. In
 * the order of the operator's stream. Where one of them lies in the host's memory it returns when
 * that is done; else, as for zeros in the GPU's memory, maybe before. */
HEDDLE_API heddle_status heddle_operator_copy(const heddle_operator *A, const heddle_view *from,
                                              const heddle_view *to);

/* As heddle_report, written by the GPU when the solve is over. */
typedef struct heddle_device_report {
  heddle_outcome outcome;
  int32_t used_floats; /* not 0: the last iterations read a narrower copy of the matrix */
  int32_t restarts;
  heddle_returned returned;
  int64_t iterations;
  double residual, residual_norm, baseline_norm, target_norm;
  int32_t singular_row; /* the first that Jacobi could not invert: HEDDLE_BREAKDOWN; or -1 */
  double backward_error;
} heddle_device_report;

/* Solves A x = b behind what `stream` holds; what `stream` gets afterwards finds x. Returns at
 * once: the solve is one CUDA graph, which the first call for these three pointers makes, and later
 * ones launch. x, the guess, b and the matrix's values are read when the GPU comes to it. For an
 * operator on a GPU under a plan with loop=graph or loop=persistent; b and x lie in the GPU's
 * memory, `report` there or in pinned memory, or it is NULL: then `heddle_solver_wait` tells. All
 * of them, and the solver, are used until the GPU has come so far.
 *
 * `stream`: a cudaStream_t of that GPU, cudaStreamLegacy for the default stream; NULL is the
 * operator's own. The observer is not called.
 *
 * While `stream` is being captured, the solve becomes part of the caller's graph, after a
 * `heddle_solver_prepare_enqueue` of the same arguments. The operator's stream, which operators of
 * a GPU share unless they name one, is part of that capture until it ends: before, make no other
 * call for that GPU than those that enqueue into it, and destroy nothing of it. The graph may be
 * launched any number of times while the solver and its null space stay, one launch at a time and
 * not beside another solve of this solver. */
HEDDLE_API heddle_status heddle_solver_enqueue(heddle_solver *solver, const heddle_view *b,
                                               const heddle_view *x, void *stream,
                                               heddle_device_report *report);
/* Allocates, compiles and captures what that needs. Solves by `heddle_solver_solve` leave it as it
 * is. */
HEDDLE_API heddle_status heddle_solver_prepare_enqueue(heddle_solver *solver, const heddle_view *b,
                                                       const heddle_view *x,
                                                       heddle_device_report *report);
/* Waits for the solves that were enqueued, and tells of the last one without a report of the
 * caller's. `report` may be NULL. HEDDLE_ERROR_USAGE where none was ever enqueued, or, with
 * `report`, has ended since the last solve that was not enqueued. It does not wait for graphs of the
 * caller's: synchronize the stream on which
 * they were launched before. */
HEDDLE_API heddle_status heddle_solver_wait(heddle_solver *solver, heddle_report *report);
/* From any thread: the enqueued solve that runs, or else the next one, ends as HEDDLE_CANCELLED
 * within 16 iterations. Without effect before the first one is prepared. */
HEDDLE_API heddle_status heddle_solver_cancel(heddle_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
