/* Ranks that share the rows of a matrix and solve together: threads of one process, each with a GPU
 * or without. docs/guide/distributed.md describes matrices on ranks.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_RANKS_H
#define HEDDLE_RANKS_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks, as seen by one of them. Valid until the body that received it returns. */
typedef struct heddle_communicator heddle_communicator;

/* The function that each rank runs. It returns 0; any other number makes the calls fail in which
 * other ranks wait for this one. Calls that wait for a rank that has returned 0 fail too, with
 * HEDDLE_ERROR_USAGE and a message that names it. */
typedef int (*heddle_rank_body)(void *user, heddle_communicator *ranks);

/* Runs `body` on 1 to 1024 ranks: the calling thread is rank 0, the others are threads of their
 * own. Returns when all have ended; HEDDLE_ERROR_CALLBACK if a body returned a number other than
 * 0. */
HEDDLE_API heddle_status heddle_run_on_ranks(heddle_context *context, int32_t ranks,
                                             heddle_rank_body body, void *user);
/* The caller's rank, counted from 0, and the number of ranks; -1 and 0 for NULL. */
HEDDLE_API int32_t heddle_communicator_rank(const heddle_communicator *ranks);
HEDDLE_API int32_t heddle_communicator_size(const heddle_communicator *ranks);

/* This rank's rows of a square matrix. All ranks pass the whole matrix, with equal settings except
 * device and threads; `matrix` may be destroyed afterwards. The settings are device (of this rank;
 * all ranks are on GPUs, or none), threads (of this rank; 0: its part of those that the process may
 * use), plan, partition, exchange and boundary. Vectors of the operator, and the values that
 * heddle_operator_update_values takes, have this rank's rows, in their order.
 *
 * This call, and all calls that make objects from the operator, multiply or solve with them, are
 * collective: every rank makes them in the same order. A call that fails on one rank fails on all,
 * and so do later ones. After the body has returned they are refused. There is no adjoint, and no
 * enqueuing. Preconditioners are all that are named by a text.
 * Coordinates and candidates of multigrid are those of the rows of all ranks, in the matrix's
 * order. */
HEDDLE_API heddle_status heddle_operator_distribute(heddle_communicator *ranks,
                                                    const heddle_matrix *matrix,
                                                    const heddle_settings *settings,
                                                    heddle_operator **result);
/* Writes to `rows` which rows of the matrix this rank has in such an operator: as many as
 * heddle_operator_size reports. */
HEDDLE_API heddle_status heddle_operator_rows_of_rank(const heddle_operator *A, int64_t *rows);

#ifdef __cplusplus
}
#endif

#endif
