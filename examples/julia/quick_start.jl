# A quaternion system from a file, from Julia by ccall: prints the report, and the bits of the
# residual and of the first row of x. HEDDLE_LIBRARY names libheddle_c.so.
const library = get(ENV, "HEDDLE_LIBRARY", "libheddle_c.so.0")
const quaternion, double, row_major, host = 2, 1, 0, 0  # from the enumerations of heddle.h

struct View
    data::Ptr{Cdouble}
    count::Int64
    entry::Cint
    precision::Cint
    layout::Cint
    location::Cint
end
view_of(field) = View(pointer(field), size(field, 2), quaternion, double, row_major, host)

mutable struct Report
    struct_size::Csize_t
    outcome::Cint
    restarts::Int32
    iterations::Int64
    residual::Cdouble
    residual_norm::Cdouble
    baseline_norm::Cdouble
    target_norm::Cdouble
    backward_error::Cdouble
    seconds::Cdouble
    returned::Cint
    Report() = new(sizeof(Report))
end

const context = Ref(C_NULL)

function check(status)
    status == 0 && return
    text = zeros(UInt8, 512)
    @ccall library.heddle_message(context[]::Ptr{Cvoid}, text::Ptr{UInt8}, 512::Csize_t)::Csize_t
    error(unsafe_string(pointer(text)))
end

function main(path)
    settings, matrix, A, jacobi, cg = (Ref(C_NULL) for _ in 1:5)
    check(@ccall library.heddle_context_create(context::Ptr{Ptr{Cvoid}})::Cint)
    check(@ccall library.heddle_matrix_read(context[]::Ptr{Cvoid}, path::Cstring, quaternion::Cint,
        double::Cint, matrix::Ptr{Ptr{Cvoid}})::Cint)
    check(@ccall library.heddle_operator_create(matrix[]::Ptr{Cvoid}, C_NULL::Ptr{Cvoid},
        A::Ptr{Ptr{Cvoid}})::Cint)
    check(@ccall library.heddle_preconditioner_create(A[]::Ptr{Cvoid}, "jacobi"::Cstring,
        C_NULL::Ptr{Cvoid}, jacobi::Ptr{Ptr{Cvoid}})::Cint)
    check(@ccall library.heddle_settings_create(context[]::Ptr{Cvoid},
        settings::Ptr{Ptr{Cvoid}})::Cint)
    check(@ccall library.heddle_settings_set(settings[]::Ptr{Cvoid}, "tolerance"::Cstring,
        "1e-10"::Cstring)::Cint)
    check(@ccall library.heddle_solver_create(A[]::Ptr{Cvoid}, "cg"::Cstring, jacobi[]::Ptr{Cvoid},
        settings[]::Ptr{Cvoid}, cg::Ptr{Ptr{Cvoid}})::Cint)

    rows, columns = Ref{Int64}(0), Ref{Int64}(0)
    check(@ccall library.heddle_operator_size(A[]::Ptr{Cvoid}, rows::Ptr{Int64},
        columns::Ptr{Int64})::Cint)
    b, x = zeros(4, rows[]), zeros(4, rows[])  # a column holds w, x, y, z of a row
    b[1, :] .= 1
    report = Report()
    GC.@preserve b x begin
        check(@ccall library.heddle_solver_solve(cg[]::Ptr{Cvoid}, Ref(view_of(b))::Ptr{View},
            Ref(view_of(x))::Ptr{View}, Ref(report)::Ptr{Report})::Cint)
    end
    text = zeros(UInt8, 512)
    @ccall library.heddle_solver_summary(cg[]::Ptr{Cvoid}, text::Ptr{UInt8}, 512::Csize_t)::Csize_t
    println(unsafe_string(pointer(text)))
    print_bits(name, number) =
        println(name, " ", uppercase(string(reinterpret(UInt64, number), base=16, pad=16)))
    print_bits("residual", report.residual)
    foreach(k -> print_bits("x", x[k, 1]), 1:4)

    @ccall library.heddle_settings_destroy(settings::Ptr{Ptr{Cvoid}})::Cvoid
    @ccall library.heddle_solver_destroy(cg::Ptr{Ptr{Cvoid}})::Cvoid
    @ccall library.heddle_preconditioner_destroy(jacobi::Ptr{Ptr{Cvoid}})::Cvoid
    @ccall library.heddle_operator_destroy(A::Ptr{Ptr{Cvoid}})::Cvoid
    @ccall library.heddle_matrix_destroy(matrix::Ptr{Ptr{Cvoid}})::Cvoid
    @ccall library.heddle_context_destroy(context::Ptr{Ptr{Cvoid}})::Cvoid
end

main(isempty(ARGS) ? "dirac.npz" : ARGS[1])
