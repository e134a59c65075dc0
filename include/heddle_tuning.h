/* Measurements of which plan is best for a matrix (docs/guide/tuning.md), the memory that plans
 * take, and properties of a matrix and its products.
 *
 * heddle.h includes this file. */
#ifndef HEDDLE_TUNING_H
#define HEDDLE_TUNING_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_tune_progress {
  int64_t tried, expected;      /* plans; at most `expected` in all */
  double seconds, seconds_left; /* so far; estimated */
} heddle_tune_progress;

/* Called now and then in the thread that tunes, like heddle_observer: a number other than 0 ends
 * the search, which keeps its measurements so far. */
typedef int (*heddle_tune_observer)(void *user, const heddle_tune_progress *progress);

/* The observer of tuning; NULL: none. */
HEDDLE_API heddle_status heddle_settings_observe_tuning(heddle_settings *settings,
                                                        heddle_tune_observer observer, void *user);

/* Measures which plan is best for the matrix; nothing else should run on the device. The settings
 * are those of tuning, and device, threads and storage. With the storage hisparse the nodes of a
 * tree are tuned. With the objective multigrid its settings are tuned, with coordinates, candidates
 * or adaptive candidates as given; cycle, smoother, strength and level_precision are results, and
 * are ignored as inputs. */
HEDDLE_API heddle_status heddle_tune(const heddle_matrix *matrix,
                                     const heddle_settings *settings, heddle_profile **profile);
/* The same for several matrices of one entry that have `domain` in common, NULL being "default":
 * keeps a record of each under its name, and the plan that is best over all, for others like them.
 * Tunes plans only. `names` may be NULL: "1", "2", ... */
HEDDLE_API heddle_status heddle_tune_domain(const heddle_matrix *const *matrices,
                                            const char *const *names, int64_t count,
                                            const char *domain, const heddle_settings *settings,
                                            heddle_profile **profile);
/* The loss of the plan of a profile's domain on a matrix, compared with the best plan that a search
 * finds there, as a share of the best plan's time; infinite if the domain's plan cannot run. */
HEDDLE_API heddle_status heddle_profile_evaluate(const heddle_profile *profile,
                                                 const heddle_matrix *matrix,
                                                 const heddle_settings *settings, double *loss);
HEDDLE_API heddle_status heddle_profile_read(heddle_context *context, const char *path,
                                             heddle_profile **profile);
/* If `merge` is not 0, adds to a file of the same device the records that it lacks, and replaces
 * those that it has; else writes the file anew. */
HEDDLE_API heddle_status heddle_profile_write(const heddle_profile *profile, const char *path,
                                              int32_t merge);
/* The profile as in a file (docs/reference/profiles.md), copied as by `heddle_message`; "" for
 * NULL. */
HEDDLE_API size_t heddle_profile_json(const heddle_profile *profile, char *buffer,
                                      size_t capacity);
/* The text of the plan for a matrix on a device, NULL being "cpu", for the products or iterations
 * that `objective` names, NULL being "cg": the profile's plan for the matrix's pattern or a similar
 * one, else the plan chosen without a profile. Copied as by `heddle_message`; `length` may be
 * NULL. */
HEDDLE_API heddle_status heddle_profile_choose(const heddle_profile *profile,
                                               const heddle_matrix *matrix, const char *device,
                                               int32_t threads, const char *objective,
                                               char *buffer, size_t capacity, size_t *length);
HEDDLE_API void heddle_profile_destroy(heddle_profile **profile);

/* Bytes of the matrix that a product reads, and all bytes that an operator with these settings
 * would keep of it, without making one. Either result may be NULL. */
HEDDLE_API heddle_status heddle_matrix_memory(const heddle_matrix *matrix,
                                              const heddle_settings *settings,
                                              int64_t *product, int64_t *total);

/* Properties of a matrix ----------------------------------------------------------------------- */

/* The JSON text of `heddle info --json` (docs/reference/command-line.md): features, the memory of
 * layouts and of a tree, which exact copies exist, the code balance of a product and, on request,
 * advice on multigrid and the prediction for ranks. The settings are those of a description, and
 * device, threads, node and dense. Copied as by `heddle_message`; `length` may be NULL. Each call
 * computes the text anew: 8 KiB are enough for it, plus 1 KiB for each number of ranks. */
HEDDLE_API heddle_status heddle_matrix_describe(const heddle_matrix *matrix,
                                                const heddle_settings *settings,
                                                char *buffer, size_t capacity, size_t *length);

/* The number of ranks, one device each, that is worth it among the numbers in the setting ranks; 1
 * if none is. It is `best_ranks` of that text, computed without the rest; the setting scaling names
 * the network. */
HEDDLE_API heddle_status heddle_matrix_best_ranks(const heddle_matrix *matrix,
                                                  const heddle_settings *settings,
                                                  int32_t *ranks);

/* Seconds of products that run one after the other, and of products that find nothing in the
 * caches. */
typedef struct heddle_product_times {
  size_t struct_size; /* sizeof(heddle_product_times), set by the caller */
  double lower_quartile, median, upper_quartile;
  double cold_lower_quartile, cold_median, cold_upper_quartile; /* NaN unless requested */
  int64_t moved_bytes; /* bytes that the storage reads and writes in a product */
  double triad_bandwidth; /* bytes a second of STREAM's triad (on a GPU, of a copy), measured along
                             with the former; NaN unless requested: it takes 1.5 GB and a while */
} heddle_product_times;

/* Measures y = A x with a random x, for an operator that stores a matrix or is made from one.
 * `cold` and `triad`: not 0 requests these too. */
HEDDLE_API heddle_status heddle_operator_measure(const heddle_operator *A, int32_t repetitions,
                                                 int32_t cold, int32_t triad,
                                                 heddle_product_times *times);

#ifdef __cplusplus
}
#endif

#endif
