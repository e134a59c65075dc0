/* Which plan is best for a matrix, by measuring (docs/tuning.md), and what memory plans take.
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
  const char *objective;   /* a method, whose iteration is timed, or "product"; NULL is "cg" */
  const char *search;      /* "full", "pruned", "predict"; NULL is "pruned" */
  double seconds;          /* at which the search ends; 0: as `heddle tune` has it */
  double max_memory_ratio; /* plans of more than so many times CSR's memory are skipped; 2 */
  heddle_tune_observer observer; /* NULL */
  void *user;
} heddle_tune_options;
/* As heddle_operator_options_init, with sizeof(heddle_tune_options). */
HEDDLE_API void heddle_tune_options_init(heddle_tune_options *options, size_t size);

/* Measures which plan is best for the matrix; nothing else should run on the device. `options` may
 * be NULL. */
HEDDLE_API heddle_status heddle_tune(const heddle_matrix *matrix,
                                     const heddle_tune_options *options, heddle_profile **profile);
HEDDLE_API heddle_status heddle_profile_read(heddle_context *context, const char *path,
                                             heddle_profile **profile);
/* `merge`: not 0 adds to the file what it does not have, and replaces what it has, of the same
 * device; else it is written anew. */
HEDDLE_API heddle_status heddle_profile_write(const heddle_profile *profile, const char *path,
                                              int32_t merge);
/* The profile as files hold it (docs/profiles.md), as `heddle_message` copies; "" for NULL. */
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

#ifdef __cplusplus
}
#endif

#endif
