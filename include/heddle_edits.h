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

/* As triplets of the matrix's size, in the host's memory: entries to set, there or not, to add, and
 * to remove, which are there. NULL for none. A place may be named once among all. */
typedef struct heddle_edits {
  size_t struct_size; /* sizeof(heddle_edits) */
  const heddle_pattern *set;
  const heddle_view *set_values;
  const heddle_pattern *add;
  const heddle_view *add_values;
  const heddle_pattern *remove;
} heddle_edits;

/* Of an operator in the storage hisparse, of an entry of the library's own: one of the edited matrix.
 * It shares all nodes but those that the edits touch. A stays as it is, and either may go; solvers
 * of A keep A. Makes all of the edits, or none. */
HEDDLE_API heddle_status heddle_operator_edited(const heddle_operator *A, const heddle_edits *edits,
                                                heddle_operator **edited);

#ifdef __cplusplus
}
#endif

#endif
