/* Which plan is best for a matrix, by measuring (docs/guide/tuning.md), what memory plans take, and what a
 * matrix and its products are like.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_TUNING_H
#define HEDDLE_TUNING_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_tune_progress {
  int64_t tried, expected;      /* plans; at most so many in all */
  double seconds, seconds_left; /* so far; about */
} heddle_tune_progress;

/* Called now and then in the thread that tunes, as heddle_observer: another number than 0 ends the
 * search, which keeps what it has measured. */
typedef int (*heddle_tune_observer)(void *user, const heddle_tune_progress *progress);

typedef struct heddle_tune_options {
  size_t struct_size;
  const char *device; /* as of an operator; NULL is "cpu" */
  int32_t threads;
  const char *objective;   /* a method, whose iteration is timed, "product", or "multigrid", whose
                              settings are then tuned; NULL is "cg" */
  const char *search;      /* "full", "pruned", "predict"; NULL is "pruned" */
  double seconds;          /* at which the search ends; 0: as `heddle tune` has it */
  double max_memory_ratio; /* plans of more than so many times CSR's memory are skipped; 2 */
  heddle_tune_observer observer; /* NULL */
  void *user;
  double memory_weight; /* w of the score, time x (memory over CSR's)^w; 0 */
  double confidence;    /* with which a median is known within `tightness`; 0.95 */
  double tightness;     /* relative half width of that interval; 0.01 */
  int32_t max_runs;     /* of a plan; 101 */
  const char *storage;  /* "sliced": plans; "hisparse": the nodes of a tree, for A x and
                           A* x; NULL is "sliced" */
  const heddle_multigrid_options *multigrid; /* of the objective "multigrid": its coordinates and
                                                candidates, or adaptive; NULL: constants */
} heddle_tune_options;
/* As heddle_operator_options_init, with sizeof(heddle_tune_options). */
HEDDLE_API void heddle_tune_options_init(heddle_tune_options *options, size_t size);

/* Measures which plan is best for the matrix; nothing else should run on the device. `options` may
 * be NULL. */
HEDDLE_API heddle_status heddle_tune(const heddle_matrix *matrix,
                                     const heddle_tune_options *options, heddle_profile **profile);
/* The same over several matrices of one entry that have `domain` in common, NULL being "default": a
 * record of each under its name, and the plan that is best over all, for others like them. Plans
 * alone. `names` may be NULL: "1", "2", ... */
HEDDLE_API heddle_status heddle_tune_domain(const heddle_matrix *const *matrices,
                                            const char *const *names, int64_t count,
                                            const char *domain, const heddle_tune_options *options,
                                            heddle_profile **profile);
/* What the plan of a profile's domain loses on a matrix against the best that a search finds there,
 * as a share of its time; infinite where that plan cannot run. */
HEDDLE_API heddle_status heddle_profile_evaluate(const heddle_profile *profile,
                                                 const heddle_matrix *matrix,
                                                 const heddle_tune_options *options, double *loss);
HEDDLE_API heddle_status heddle_profile_read(heddle_context *context, const char *path,
                                             heddle_profile **profile);
/* `merge`: not 0 adds to the file what it does not have, and replaces what it has, of the same
 * device; else it is written anew. */
HEDDLE_API heddle_status heddle_profile_write(const heddle_profile *profile, const char *path,
                                              int32_t merge);
/* The profile as files hold it (docs/reference/profiles.md), as `heddle_message` copies; "" for NULL. */
HEDDLE_API size_t heddle_profile_json(const heddle_profile *profile, char *buffer,
                                      size_t capacity);
/* The text of the plan for a matrix on a device, NULL being "cpu", whose products or iterations
 * `objective` names, NULL being "cg": what the profile has for its pattern or a similar one, else
 * what is chosen without it. Copies as `heddle_message`; `length` may be NULL. */
HEDDLE_API heddle_status heddle_profile_choose(const heddle_profile *profile,
                                               const heddle_matrix *matrix, const char *device,
                                               int32_t threads, const char *objective,
                                               char *buffer, size_t capacity, size_t *length);
HEDDLE_API void heddle_profile_destroy(heddle_profile **profile);

/* Bytes of the matrix that a product reads, and all that an operator of these options would keep of
 * it, without making one: `options` as of heddle_operator_create. Either result may be NULL. */
HEDDLE_API heddle_status heddle_matrix_memory(const heddle_matrix *matrix,
                                              const heddle_operator_options *options,
                                              int64_t *product, int64_t *total);

/* What a matrix is like -------------------------------------------------------------------------- */

typedef struct heddle_description_options {
  size_t struct_size;
  const char *device;     /* "cpu" */
  int32_t threads;        /* 0 */
  int32_t node;           /* rows of a node of hierarchical storage; 0: 128 */
  int64_t cache;          /* bytes of x that a cache keeps; 0: the size of the device's last one */
  double bandwidth;       /* GB/s of a device and its memory, assumed; 3000 */
  double link;            /* GB/s between device and host, assumed; 50 */
  const char *scaling;    /* the network for a prediction on ranks, docs/guide/distributed.md; NULL: none */
  const char *rates;      /* of --rates of the command line, "device" of that GPU; NULL: h100 */
  const char *partition;  /* of the rows by "entries", "rows", "metis" or "scotch"; NULL: entries */
  const int32_t *ranks;   /* numbers of ranks; NULL: 1, 2, 4 and so on */
  int64_t rank_count;     /* how many `ranks` there are */
  int32_t unknowns;       /* of a row, in place of those of the entries; 0 */
  int32_t multigrid;      /* not 0: solves with and without multigrid, to advise it or not; 0 */
  const char *dense;      /* as in heddle_operator_options; NULL: bytes */
} heddle_description_options;
/* As heddle_operator_options_init, with sizeof(heddle_description_options). */
HEDDLE_API void heddle_description_options_init(heddle_description_options *options, size_t size);

/* The JSON text of `heddle info --json` (docs/reference/command-line.md): features, the memory of layouts and
 * of a tree, which exact copies there are, the code balance of a product, and on request the advice
 * on multigrid and the prediction on ranks. Copies as `heddle_message`; `options` and `length` may
 * be NULL. Works anew at each call: 8 KiB have room for the text, and 1 KiB more for each number of
 * ranks. */
HEDDLE_API heddle_status heddle_matrix_describe(const heddle_matrix *matrix,
                                                const heddle_description_options *options,
                                                char *buffer, size_t capacity, size_t *length);

/* How many ranks, one device each, are worth it of the numbers `options->ranks`; 1 where none is. As
 * `best_ranks` of that text, and looks at nothing else: the options name the network in `scaling`,
 * and all but those of scaling, device and threads are left aside. */
HEDDLE_API heddle_status heddle_matrix_best_ranks(const heddle_matrix *matrix,
                                                  const heddle_description_options *options,
                                                  int32_t *ranks);

/* Seconds, of products one after the other, and of those that find nothing in the caches. */
typedef struct heddle_product_times {
  size_t struct_size; /* sizeof(heddle_product_times), set by the caller */
  double lower_quartile, median, upper_quartile;
  double cold_lower_quartile, cold_median, cold_upper_quartile; /* NaN where not asked for */
  int64_t moved_bytes; /* that the storage reads and writes in a product */
  double triad_bandwidth; /* bytes a second of STREAM's triad, on a GPU of a copy, beside the first;
                             NaN where not asked for: it takes 1.5 GB and a while */
} heddle_product_times;

/* Measures y = A x of an operator that stores a matrix, or is made of one, with a random x.
 * `cold` and `triad`: not 0 asks for these too. */
HEDDLE_API heddle_status heddle_operator_measure(const heddle_operator *A, int32_t repetitions,
                                                 int32_t cold, int32_t triad,
                                                 heddle_product_times *times);

#ifdef __cplusplus
}
#endif

#endif
