/* A quaternion system from a file, from C: prints the report, and the bits of the residual and of
 * the first row of x. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"

static heddle_context *context;

static void check(heddle_status status) {
  char message[512];
  if (status == HEDDLE_OK) return;
  heddle_message(context, message, sizeof message);
  fprintf(stderr, "%s: %s\n", heddle_status_name(status), message);
  exit(2);
}

static void print_bits(const char *name, double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  printf("%s %016" PRIX64 "\n", name, bits);
}

int main(int count, char **arguments) {
  heddle_matrix *matrix = NULL;
  heddle_operator *A = NULL;
  heddle_preconditioner *jacobi = NULL;
  heddle_solver *cg = NULL;
  heddle_settings *settings = NULL;
  heddle_report report;
  int64_t rows, columns, i;
  double *b, *x;
  char summary[512];

  check(heddle_context_create(&context));
  check(heddle_matrix_read(context, count > 1 ? arguments[1] : "dirac.npz", HEDDLE_QUATERNION,
                           HEDDLE_DOUBLE, &matrix));
  check(heddle_operator_create(matrix, NULL, &A));
  check(heddle_preconditioner_create(A, "jacobi", NULL, &jacobi));
  check(heddle_settings_create(context, &settings));
  check(heddle_settings_set(settings, "tolerance", "1e-10"));
  check(heddle_solver_create(A, "cg", jacobi, settings, &cg));

  check(heddle_operator_size(A, &rows, &columns));
  b = calloc((size_t)rows * 4, sizeof *b);
  x = calloc((size_t)rows * 4, sizeof *x);
  if (b == NULL || x == NULL) return 2;
  for (i = 0; i < rows; ++i) b[4 * i] = 1; /* the number 1: w, x, y, z */
  {
    const heddle_view b_view = {b, rows, HEDDLE_QUATERNION, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR,
                                HEDDLE_HOST};
    const heddle_view x_view = {x, rows, HEDDLE_QUATERNION, HEDDLE_DOUBLE, HEDDLE_ROW_MAJOR,
                                HEDDLE_HOST};
    report.struct_size = sizeof report;
    check(heddle_solver_solve(cg, &b_view, &x_view, &report));
  }
  heddle_solver_summary(cg, summary, sizeof summary);
  printf("%s\n", summary);
  print_bits("residual", report.residual);
  for (i = 0; i < 4; ++i) print_bits("x", x[i]);

  heddle_settings_destroy(&settings);
  heddle_solver_destroy(&cg);
  heddle_preconditioner_destroy(&jacobi);
  heddle_operator_destroy(&A);
  heddle_matrix_destroy(&matrix);
  heddle_context_destroy(&context);
  free(b);
  free(x);
  return report.outcome == HEDDLE_CONVERGED ? 0 : 1;
}
