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
/* Work queued on the operator's stream from here on waits for the work that `stream`, a
 * cudaStream_t of that GPU, holds now; the host does not wait. cudaStreamLegacy names the default
 * stream, NULL does not. */
HEDDLE_API heddle_status heddle_operator_wait_for(const heddle_operator *A, void *stream);
/* Waits for all work on the operator's stream. */
HEDDLE_API heddle_status heddle_operator_synchronize(const heddle_operator *A);
/* to = from, for two vectors of the operator in either memory and layout; zero if `from` is NULL.
 * Runs in the order of the operator's stream. If one of the vectors lies in the host's memory, the
 * call returns when the copy is done; else, and for zeros in the GPU's memory, possibly before. */
HEDDLE_API heddle_status heddle_operator_copy(const heddle_operator *A, const heddle_view *from,
                                              const heddle_view *to);

/* Like heddle_report, but written by the GPU when the solve is over. */
typedef struct heddle_device_report {
  heddle_outcome outcome;
  int32_t used_floats; /* not 0: the last iterations read a narrower copy of the matrix */
  int32_t restarts;
  heddle_returned returned;
  int64_t iterations;
  double residual, residual_norm, baseline_norm, target_norm;
  int32_t singular_row; /* the first row that Jacobi could not invert (HEDDLE_BREAKDOWN), or -1 */
  double backward_error;
} heddle_device_report;

/* Solves A x = b after the work that `stream` holds; work queued on `stream` afterwards finds the
 * solution in x. Returns at once: the solve is one CUDA graph, which the first call for these three
 * pointers makes, and later calls launch. The guess in x, b and the matrix's values are read when
 * the GPU reaches the solve. The operator must be on a GPU, under a plan with loop=graph or
 * loop=persistent. b and x lie in the GPU's memory. `report` lies there or in pinned memory, or is
 * NULL; then `heddle_solver_wait` reports. All of them, and the solver, are in use until the GPU
 * has finished the solve.
 *
 * `stream`: a cudaStream_t of that GPU, cudaStreamLegacy for the default stream; NULL is the
 * operator's own. The observer is not called.
 *
 * While `stream` is being captured, the solve becomes part of the caller's graph; this requires an
 * earlier `heddle_solver_prepare_enqueue` with the same arguments. The operator's stream, which
 * operators on a GPU share unless they name one, is part of that capture until it ends: until then,
 * make no calls for that GPU except those that enqueue into the capture, and destroy nothing on
 * that GPU. The graph may be launched any number of times while the solver and its null space
 * exist, one launch at a time and not at the same time as another solve of this solver. */
HEDDLE_API heddle_status heddle_solver_enqueue(heddle_solver *solver, const heddle_view *b,
                                               const heddle_view *x, void *stream,
                                               heddle_device_report *report);
/* Allocates, compiles and captures what that call needs. Solves by `heddle_solver_solve` leave it
 * unchanged. */
HEDDLE_API heddle_status heddle_solver_prepare_enqueue(heddle_solver *solver, const heddle_view *b,
                                                       const heddle_view *x,
                                                       heddle_device_report *report);
/* Waits for the solves that were enqueued, and reports the last one that had no report of the
 * caller's. `report` may be NULL. HEDDLE_ERROR_USAGE if none was ever enqueued or, with `report`,
 * if none has ended since the last solve that was not enqueued. It does not wait for graphs of the
 * caller's: first synchronize the stream on which they were launched. */
HEDDLE_API heddle_status heddle_solver_wait(heddle_solver *solver, heddle_report *report);
/* From any thread: ends the enqueued solve that is running, or else the next one, as
 * HEDDLE_CANCELLED within 16 iterations. Has no effect before the first one is prepared. */
HEDDLE_API heddle_status heddle_solver_cancel(heddle_solver *solver);

#ifdef __cplusplus
}
#endif

#endif
