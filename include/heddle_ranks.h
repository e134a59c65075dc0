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

typedef struct heddle_rank_options {
  size_t struct_size;
  const char *device;    /* of this rank: "cpu", or "cuda:N": all ranks are on GPUs, or none; "cpu" */
  int32_t threads;       /* of this rank, on the CPU; 0: its part of what the process may use */
  const char *plan;      /* one that ranks can store; NULL: chosen, by rank 0 */
  const char *partition; /* rows of a rank by "entries", "rows", "metis" or "scotch", or first rows,
                            multiples of 256, "0,512"; NULL: entries */
  const char *exchange;  /* "vector", "naive" or "task", docs/guide/distributed.md; "auto" or NULL: one
                            that is chosen */
  const char *boundary;  /* rows that need others' columns "whole", with the bits of one rank, or
                            "split"; NULL: whole */
} heddle_rank_options;
/* As heddle_operator_options_init, with sizeof(heddle_rank_options). */
HEDDLE_API void heddle_rank_options_init(heddle_rank_options *options, size_t size);

/* This rank's rows of a square matrix, which all ranks pass whole, with equal options but `device`
 * and `threads`; `matrix` may go, and `options` may be NULL. Vectors of the operator, and the values
 * that heddle_operator_update_values takes, are of this rank's rows, in their order.
 *
 * This call, and all that make, multiply or solve with what is made of it, are collective: every rank
 * makes them in the same order. One that fails on a rank fails on all, and so do later ones. When the
 * body has returned they are refused. There is no adjoint, and no enqueuing. Preconditioners are
 * multigrid and those that need no entries but the diagonal's. Coordinates and candidates of multigrid
 * are those of the rows of all ranks, in the matrix's order. */
HEDDLE_API heddle_status heddle_operator_distribute(heddle_communicator *ranks,
                                                    const heddle_matrix *matrix,
                                                    const heddle_rank_options *options,
                                                    heddle_operator **result);
/* Of such an operator: the rows of the matrix that this rank has, as many as heddle_operator_size
 * tells, into `rows`. */
HEDDLE_API heddle_status heddle_operator_rows_of_rank(const heddle_operator *A, int64_t *rows);

#ifdef __cplusplus
}
#endif

#endif
