/* Ranks that share the rows of a matrix, and solve together: threads of one process, each maybe with
 * a GPU. docs/guide/distributed.md tells of matrices on ranks.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_RANKS_H
#define HEDDLE_RANKS_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The ranks, from the view of one of them. It lives until the body that got it returns. */
typedef struct heddle_communicator heddle_communicator;

/* What each rank does. Returns 0, or another number: then the calls fail in which other ranks wait
 * for this one. So do calls that wait for a rank which has returned 0: HEDDLE_ERROR_USAGE, with a
 * message that names it. */
typedef int (*heddle_rank_body)(void *user, heddle_communicator *ranks);

/* Runs `body` on 1 to 1024 ranks: the calling thread is rank 0, the others are threads of their own.
 * Returns when all have ended: HEDDLE_ERROR_CALLBACK where a body returned other than 0. */
HEDDLE_API heddle_status heddle_run_on_ranks(heddle_context *context, int32_t ranks,
                                             heddle_rank_body body, void *user);
/* Of the caller, from 0 on, and how many there are; -1 and 0 for NULL. */
HEDDLE_API int32_t heddle_communicator_rank(const heddle_communicator *ranks);
HEDDLE_API int32_t heddle_communicator_size(const heddle_communicator *ranks);

/* This rank's rows of a square matrix, which all ranks pass whole, with equal settings but device and
 * threads; `matrix` may go. The settings are device (of this rank; all ranks are on GPUs, or none),
 * threads (of this rank, 0: its part of what the process may use), plan, partition, exchange and
 * boundary. Vectors of the operator, and the values
 * that heddle_operator_update_values takes, are of this rank's rows, in their order.
 *
 * This call, and all that make, multiply or solve with what is made of it, are collective: every rank
 * makes them in the same order. One that fails on a rank fails on all, and so do later ones. When the
 * body has returned they are refused. There is no adjoint, and no enqueuing. Preconditioners are
 * multigrid and those that need no entries but the diagonal's. Coordinates and candidates of multigrid
 * are those of the rows of all ranks, in the matrix's order. */
HEDDLE_API heddle_status heddle_operator_distribute(heddle_communicator *ranks,
                                                    const heddle_matrix *matrix,
                                                    const heddle_settings *settings,
                                                    heddle_operator **result);
/* Of such an operator: the rows of the matrix that this rank has, as many as heddle_operator_size
 * tells, into `rows`. */
HEDDLE_API heddle_status heddle_operator_rows_of_rank(const heddle_operator *A, int64_t *rows);

#ifdef __cplusplus
}
#endif

#endif
