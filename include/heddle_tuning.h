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

/* NULL: none. */
HEDDLE_API heddle_status heddle_settings_observe_tuning(heddle_settings *settings,
                                                        heddle_tune_observer observer, void *user);

/* Measures which plan is best for the matrix; nothing else should run on the device. The settings
 * are those of tuning, and device, threads and storage: of hisparse the nodes of a tree are tuned; of
 * the objective multigrid its settings, with coordinates, candidates or adaptive ones as given;
 * cycle, smoother, strength and level_precision are what it finds, and left aside. */
HEDDLE_API heddle_status heddle_tune(const heddle_matrix *matrix,
                                     const heddle_settings *settings, heddle_profile **profile);
/* The same over several matrices of one entry that have `domain` in common, NULL being "default": a
 * record of each under its name, and the plan that is best over all, for others like them. Plans
 * alone. `names` may be NULL: "1", "2", ... */
HEDDLE_API heddle_status heddle_tune_domain(const heddle_matrix *const *matrices,
                                            const char *const *names, int64_t count,
                                            const char *domain, const heddle_settings *settings,
                                            heddle_profile **profile);
/* What the plan of a profile's domain loses on a matrix against the best that a search finds there,
 * as a share of its time; infinite where that plan cannot run. */
HEDDLE_API heddle_status heddle_profile_evaluate(const heddle_profile *profile,
                                                 const heddle_matrix *matrix,
                                                 const heddle_settings *settings, double *loss);
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

/* Bytes of the matrix that a product reads, and all that an operator of these settings would keep of
 * it, without making one. Either result may be NULL. */
HEDDLE_API heddle_status heddle_matrix_memory(const heddle_matrix *matrix,
                                              const heddle_settings *settings,
                                              int64_t *product, int64_t *total);

/* What a matrix is like -------------------------------------------------------------------------- */

/* The JSON text of `heddle info --json` (docs/reference/command-line.md): features, the memory of layouts and
 * of a tree, which exact copies there are, the code balance of a product, and on request the advice
 * on multigrid and the prediction on ranks. The settings are those of a description, and device,
 * threads, node and dense. Copies as `heddle_message`; `length` may be NULL. Works anew at each call:
 * 8 KiB have room for the text, and 1 KiB more for each number of ranks. */
HEDDLE_API heddle_status heddle_matrix_describe(const heddle_matrix *matrix,
                                                const heddle_settings *settings,
                                                char *buffer, size_t capacity, size_t *length);

/* How many ranks, one device each, are worth it of the numbers in the setting ranks; 1 where none is.
 * It is `best_ranks` of that text, and looks at nothing else; the setting scaling names the network. */
HEDDLE_API heddle_status heddle_matrix_best_ranks(const heddle_matrix *matrix,
                                                  const heddle_settings *settings,
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
