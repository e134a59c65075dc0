! A quaternion system from a file, from Fortran: prints the report, and the bits of the residual and
! of the first row of x.
program quick_start
  use heddle
  implicit none
  type(c_ptr) :: context, settings, matrix, A, jacobi, cg
  type(heddle_report) :: report
  integer(c_int64_t) :: rows, columns
  real(c_double), allocatable, target :: b(:, :), x(:, :)  ! a column holds w, x, y, z of a row
  character(kind=c_char, len=512) :: text
  character(len=1024) :: path
  integer :: length, k

  path = 'dirac.npz'
  if (command_argument_count() > 0) call get_command_argument(1, path)
  call check(heddle_context_create(context))
  call check(heddle_matrix_read(context, trim(path) // c_null_char, heddle_quaternion, &
    heddle_double, matrix))
  call check(heddle_operator_create(matrix, c_null_ptr, A))
  call check(heddle_preconditioner_create(A, 'jacobi' // c_null_char, c_null_ptr, jacobi))
  call check(heddle_settings_create(context, settings))
  call check(heddle_settings_set_number(settings, 'tolerance' // c_null_char, 1d-10))
  call check(heddle_solver_create(A, 'cg' // c_null_char, jacobi, settings, cg))

  call check(heddle_operator_size(A, rows, columns))
  allocate (b(4, rows), x(4, rows), source=0d0)
  b(1, :) = 1
  report%struct_size = c_sizeof(report)
  call check(heddle_solver_solve(cg, view_of(b), view_of(x), report))
  length = int(heddle_solver_summary(cg, text, int(len(text), c_size_t)))
  print '(a)', text(:min(length, len(text) - 1))
  call print_bits('residual', report%residual)
  do k = 1, 4
    call print_bits('x', x(k, 1))
  end do

  call heddle_settings_destroy(settings)
  call heddle_solver_destroy(cg)
  call heddle_preconditioner_destroy(jacobi)
  call heddle_operator_destroy(A)
  call heddle_matrix_destroy(matrix)
  call heddle_context_destroy(context)
  if (report%outcome /= 0) error stop 1

contains

  type(heddle_view) function view_of(rows_of_field)
    real(c_double), target, intent(in) :: rows_of_field(:, :)
    view_of%data = c_loc(rows_of_field)
    view_of%count = size(rows_of_field, 2, c_int64_t)
    view_of%entry = heddle_quaternion
  end function

  subroutine check(status)
    integer(c_int), intent(in) :: status
    integer :: n
    if (status == 0) return
    n = int(heddle_message(context, text, int(len(text), c_size_t)))
    print '(a)', text(:min(n, len(text) - 1))
    error stop 2
  end subroutine

  subroutine print_bits(name, number)
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: number
    print '(a, 1x, z16.16)', name, transfer(number, 0_c_int64_t)
  end subroutine
end program
