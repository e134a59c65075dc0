/* Edits of a matrix in hierarchical storage.
 *
 * heddle.h includes this file.
 */
#ifndef HEDDLE_EDITS_H
#define HEDDLE_EDITS_H

#include "heddle.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Edits as triplets of the matrix's size, in the host's memory: entries to set or to add, whether
 * they exist or not, and entries to remove, which must exist. NULL for none. A place may be named
 * only once among all. */
typedef struct heddle_edits {
  size_t struct_size; /* sizeof(heddle_edits) */
  const heddle_pattern *set;
  const heddle_view *set_values;
  const heddle_pattern *add;
  const heddle_view *add_values;
  const heddle_pattern *remove;
} heddle_edits;

/* Makes an operator of the edited matrix from A, an operator in the storage hisparse with one of
 * the library's own entries. It shares all nodes except those that the edits touch. A is unchanged,
 * and either may be destroyed; solvers of A keep A. Makes all of the edits, or none. */
HEDDLE_API heddle_status heddle_operator_edited(const heddle_operator *A, const heddle_edits *edits,
                                                heddle_operator **edited);

#ifdef __cplusplus
}
#endif

#endif
