! heddle.h as a Fortran module, by iso_c_binding: the calls that most programs need; the others can
! be declared likewise. Text passed to C ends in c_null_char. Settings may be c_null_ptr: none.
module heddle
  use, intrinsic :: iso_c_binding
  implicit none

  enum, bind(c)
    enumerator :: heddle_real, heddle_complex, heddle_quaternion, heddle_dual_quaternion, &
      heddle_block2, heddle_block3, heddle_block4, heddle_block6, heddle_complex_block3
  end enum
  enum, bind(c)
    enumerator :: heddle_single, heddle_double
  end enum
  enum, bind(c)
    enumerator :: heddle_row_major, heddle_column_major, heddle_by_component
  end enum
  enum, bind(c)
    enumerator :: heddle_host, heddle_device
  end enum

  type, bind(c) :: heddle_view
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: count = 0
    integer(c_int) :: entry = heddle_real
    integer(c_int) :: precision = heddle_double
    integer(c_int) :: layout = heddle_row_major
    integer(c_int) :: location = heddle_host
  end type

  ! Indices count from `base`, which is 1 in Fortran.
  type, bind(c) :: heddle_pattern
    integer(c_size_t) :: struct_size = 0
    integer(c_int64_t) :: rows = 0, columns = 0, entries = 0
    type(c_ptr) :: row = c_null_ptr, column = c_null_ptr
    integer(c_int32_t) :: row_bits = 32, column_bits = 32, base = 1
  end type

  type, bind(c) :: heddle_report
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: outcome = 0
    integer(c_int32_t) :: restarts = 0
    integer(c_int64_t) :: iterations = 0
    real(c_double) :: residual = 0, residual_norm = 0, baseline_norm = 0, target_norm = 0, &
      backward_error = 0, seconds = 0
    integer(c_int) :: returned = 0
  end type

  type, bind(c) :: heddle_eigen_report
    integer(c_size_t) :: struct_size = 0
    integer(c_int) :: outcome = 0
    integer(c_int32_t) :: restarts = 0
    integer(c_int64_t) :: iterations = 0, products = 0
    real(c_double) :: matrix_norm = 0, mass_norm = 0, seconds = 0
  end type

  interface
    integer(c_int) function heddle_context_create(context) bind(c)
      import
      type(c_ptr), intent(out) :: context
    end function
    subroutine heddle_context_destroy(context) bind(c)
      import
      type(c_ptr), intent(inout) :: context
    end subroutine
    integer(c_size_t) function heddle_message(context, buffer, capacity) bind(c)
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
    end function

    integer(c_int) function heddle_settings_create(context, settings) bind(c)
      import
      type(c_ptr), value :: context
      type(c_ptr), intent(out) :: settings
    end function
    ! Without a value the setting has its default again.
    integer(c_int) function heddle_settings_set(settings, name, value) bind(c)
      import
      type(c_ptr), value :: settings
      character(kind=c_char), intent(in) :: name(*)
      character(kind=c_char), intent(in), optional :: value(*)
    end function
    integer(c_int) function heddle_settings_set_number(settings, name, number) bind(c)
      import
      type(c_ptr), value :: settings
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
    end function
    integer(c_int) function heddle_settings_set_json(settings, json) bind(c)
      import
      type(c_ptr), value :: settings
      character(kind=c_char), intent(in) :: json(*)
    end function
    subroutine heddle_settings_destroy(settings) bind(c)
      import
      type(c_ptr), intent(inout) :: settings
    end subroutine

    integer(c_int) function heddle_matrix_read(context, path, entry, precision, matrix) bind(c)
      import
      type(c_ptr), value :: context
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: entry, precision
      type(c_ptr), intent(out) :: matrix
    end function
    integer(c_int) function heddle_matrix_from_csr(context, pattern, values, matrix) bind(c)
      import
      type(c_ptr), value :: context
      type(heddle_pattern), intent(in) :: pattern
      type(heddle_view), intent(in) :: values
      type(c_ptr), intent(out) :: matrix
    end function
    integer(c_int) function heddle_matrix_from_triplets(context, pattern, values, matrix) bind(c)
      import
      type(c_ptr), value :: context
      type(heddle_pattern), intent(in) :: pattern
      type(heddle_view), intent(in) :: values
      type(c_ptr), intent(out) :: matrix
    end function
    subroutine heddle_matrix_destroy(matrix) bind(c)
      import
      type(c_ptr), intent(inout) :: matrix
    end subroutine

    integer(c_int) function heddle_operator_create(matrix, settings, result) bind(c)
      import
      type(c_ptr), value :: matrix, settings
      type(c_ptr), intent(out) :: result
    end function
    integer(c_int) function heddle_operator_size(A, rows, columns) bind(c)
      import
      type(c_ptr), value :: A
      integer(c_int64_t), intent(out) :: rows, columns
    end function
    integer(c_int) function heddle_operator_apply(A, x, y) bind(c)
      import
      type(c_ptr), value :: A
      type(heddle_view), intent(in) :: x, y
    end function
    integer(c_int) function heddle_operator_update_values(A, values) bind(c)
      import
      type(c_ptr), value :: A
      type(heddle_view), intent(in) :: values
    end function
    subroutine heddle_operator_destroy(A) bind(c)
      import
      type(c_ptr), intent(inout) :: A
    end subroutine

    integer(c_int) function heddle_preconditioner_create(A, text, settings, result) bind(c)
      import
      type(c_ptr), value :: A, settings
      character(kind=c_char), intent(in) :: text(*)
      type(c_ptr), intent(out) :: result
    end function
    integer(c_int) function heddle_preconditioner_apply(preconditioner, r, z, stream) bind(c)
      import
      type(c_ptr), value :: preconditioner, stream
      type(heddle_view), intent(in) :: r, z
    end function
    integer(c_int) function heddle_preconditioner_apply_adjoint(preconditioner, r, z, stream) &
        bind(c)
      import
      type(c_ptr), value :: preconditioner, stream
      type(heddle_view), intent(in) :: r, z
    end function
    integer(c_int) function heddle_preconditioner_update(preconditioner, stream) bind(c)
      import
      type(c_ptr), value :: preconditioner, stream
    end function
    subroutine heddle_preconditioner_destroy(preconditioner) bind(c)
      import
      type(c_ptr), intent(inout) :: preconditioner
    end subroutine

    integer(c_int) function heddle_solver_create(A, method, preconditioner, settings, solver) &
        bind(c)
      import
      type(c_ptr), value :: A, preconditioner, settings
      character(kind=c_char), intent(in) :: method(*)
      type(c_ptr), intent(out) :: solver
    end function
    integer(c_int) function heddle_solver_solve(solver, b, x, report) bind(c)
      import
      type(c_ptr), value :: solver
      type(heddle_view), intent(in) :: b, x
      type(heddle_report), intent(inout) :: report
    end function
    integer(c_size_t) function heddle_solver_summary(solver, buffer, capacity) bind(c)
      import
      type(c_ptr), value :: solver
      character(kind=c_char), intent(out) :: buffer(*)
      integer(c_size_t), value :: capacity
    end function
    subroutine heddle_solver_destroy(solver) bind(c)
      import
      type(c_ptr), intent(inout) :: solver
    end subroutine

    integer(c_int) function heddle_operator_create_mass(mass, A, result) bind(c)
      import
      type(c_ptr), value :: mass, A
      type(c_ptr), intent(out) :: result
    end function
    integer(c_int) function heddle_eigen_solve(A, mass, preconditioner, settings, count, x, &
        eigenvalues, residuals, error_estimates, detail, capacity, report) bind(c)
      import
      type(c_ptr), value :: A, mass, preconditioner, settings
      integer(c_int64_t), value :: count
      type(heddle_view), intent(in) :: x(*)
      real(c_double), intent(out) :: eigenvalues(*), residuals(*), error_estimates(*)
      character(kind=c_char), intent(out) :: detail(*)
      integer(c_size_t), value :: capacity
      type(heddle_eigen_report), intent(inout) :: report
    end function
  end interface
end module
