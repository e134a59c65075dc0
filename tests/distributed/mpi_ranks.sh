#!/bin/sh
# mpi_ranks.sh HEDDLE HEDDLE_MPI MPIEXEC FLAG: three processes write the x of one, byte for byte, and
# a fault on any ends all with one line and status 2. So do two on GPUs, where there is one.
set -eu
heddle=$1 program=$2 mpiexec=$3 flag=$4
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export HEDDLE_NUM_THREADS=1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
on_ranks() { timeout 60 "$mpiexec" "$flag" 3 "$program" "$@"; }
fail() { echo "mpi_ranks.sh: $1" >&2; exit 1; }

"$heddle" generate dirac --size 2000 --quiet --output A.npz
"$heddle" solve A.npz --entry quaternion --plan CSR --quiet --output alone.mtx
for exchange in vector naive task; do
  on_ranks solve A.npz --entry quaternion --plan CSR --exchange $exchange --quiet --output x.mtx
  cmp x.mtx alone.mtx || fail "$exchange: another x than one process has"
  rm x.mtx
done
# Products by the adjoint, and blocks of fields.
"$heddle" eigen A.npz --entry quaternion --plan CSR --count 1 --tolerance 1e-3 --quiet --output v.mtx
mv v-1.mtx alone-1.mtx
on_ranks eigen A.npz --entry quaternion --plan CSR --count 1 --tolerance 1e-3 --quiet --output v.mtx
cmp v-1.mtx alone-1.mtx || fail "another vector than one process has"
"$heddle" generate poisson --size 3000 --quiet --output P.mtx
awk '!/^%/ {
  print "%%MatrixMarket matrix coordinate real symmetric"
  print $1, $1, $1
  for (i = 1; i <= $1; ++i) print i, i, 1 + i % 3
  exit
}' P.mtx > mass.mtx
"$heddle" eigen P.mtx --plan CSR --mass mass.mtx --count 1 --tolerance 1e-3 --quiet --output v.mtx
mv v-1.mtx alone-1.mtx
on_ranks eigen P.mtx --plan CSR --mass mass.mtx --count 1 --tolerance 1e-3 --quiet --output v.mtx
cmp v-1.mtx alone-1.mtx || fail "a mass: another vector than one process has"
"$heddle" solve A.npz --entry quaternion --plan CSR --solver lsmr --tolerance 1e-3 --quiet --output l.mtx
on_ranks solve A.npz --entry quaternion --plan CSR --solver lsmr --tolerance 1e-3 --quiet --output x.mtx
cmp x.mtx l.mtx || fail "least squares: another x than one process has"
rm x.mtx
# A method that is named: each process reads its rows alone, and rank 0 chooses the plan of all.
on_ranks solve A.npz --entry quaternion --plan CSR --solver cg --quiet --output x.mtx
cmp x.mtx alone.mtx || fail "rows read apart: another x than one process has"
rm x.mtx
on_ranks solve A.npz --entry quaternion --plan chosen,prefetch-x=7 --solver cg --json > own.json
on_ranks solve A.npz --entry quaternion --plan chosen,prefetch-x=7 --json > report.json
for key in plan entries residual; do
  [ "$(grep "\"$key\":" own.json)" = "$(grep "\"$key\":" report.json)" ] ||
    fail "rows read apart: another $key"
done
grep -q '"communicator": "mpi"' report.json || fail "the report does not name MPI"

# Rank 0 reads Matrix Market, and has a library part the rows, where there is one.
"$heddle" solve P.mtx --plan CSR --quiet --output alone.mtx
for by in metis scotch; do
  if on_ranks solve P.mtx --plan CSR --partition $by --quiet --output x.mtx 2> errors.txt; then
    cmp x.mtx alone.mtx || fail "$by: another x than one process has"
    rm x.mtx
  else
    grep -q "was built without" errors.txt || fail "no x with a partition by $by"
  fi
done

# The first varies, and exchanges behind each colour.
for made_of_all in multigrid:1:k:gauss-seidel multigrid fsai; do
  on_ranks solve A.npz --entry quaternion --plan CSR --preconditioner $made_of_all \
    --quiet --output x.mtx
  "$heddle" solve A.npz --entry quaternion --plan CSR --preconditioner $made_of_all \
    --quiet --output alone.mtx
  cmp x.mtx alone.mtx || fail "$made_of_all: another x than one process has"
  rm x.mtx
done

expect_fault() {
  line=$1
  shift
  status=0
  on_ranks "$@" > out.txt 2> errors.txt || status=$?
  [ $status -eq 2 ] || fail "status $status, not 2, of: $*"
  [ "$(grep -c '^heddle-mpi: ' errors.txt)" -eq 1 ] || fail "not one line of: $*"
  grep -qF "heddle-mpi: $line" errors.txt || { cat errors.txt >&2; fail "another line of: $*"; }
}
expect_fault "nothing.npz: No such file" solve nothing.npz
expect_fault "partition: rank 1 begins at row 100, which is not a multiple of 256" \
  solve A.npz --entry quaternion --partition 0,100,512
# Options are checked before the sizes of a file whose rows each rank reads.
expect_fault "--cycle is for --preconditioner multigrid" solve nothing.npz --solver cg --cycle k
expect_fault "--transfer is for ranks on GPUs: give --device too" \
  solve A.npz --entry quaternion --transfer nccl
# Rank 2 alone has an entry without inverse, while messages beyond MPI's eager ones are under way.
awk 'BEGIN {
  n = 60000
  print "%%MatrixMarket matrix coordinate real general"
  print n, n, 2 * n - 1
  for (i = 0; i < n; ++i) {
    if (i != n - 5) print i + 1, i + 1, 4
    print i + 1, (i + n / 3) % n + 1, 1
  }
}' > B.mtx
expect_fault "ISAI: the diagonal entry of row 59995 (counted from 0) is missing" \
  solve B.mtx --partition 0,19968,39936 --solver bicgstab --preconditioner isai
# A partition with a rank without rows, and a preconditioner that makes sums.
on_ranks solve A.npz --entry quaternion --plan CSR --preconditioner chebyshev --solver minres \
  --partition 0,0,512 --quiet --output x.mtx
"$heddle" solve A.npz --entry quaternion --plan CSR --preconditioner chebyshev --solver minres \
  --quiet --output alone.mtx
cmp x.mtx alone.mtx || fail "a rank without rows: another x than one process has"
# Another command line of one process: all end, of --solver too, whose sums others would not join.
for other in --no-such-option "--solver minres"; do
  status=0
  # shellcheck disable=SC2086 # words
  timeout 60 "$mpiexec" "$flag" 1 "$program" solve A.npz --entry quaternion : \
    "$flag" 1 "$program" solve A.npz --entry quaternion $other > out.txt 2> errors.txt || status=$?
  [ $status -eq 2 ] || fail "status $status where a rank has another command line"
  grep -qx 'heddle-mpi: ranks disagree about the command line: rank 0 and rank 1' errors.txt ||
    { cat errors.txt >&2; fail "another line where a rank has another command line"; }
  [ "$(grep -c '^heddle-mpi: ' errors.txt)" -eq 1 ] || fail "not one line"
done
expect_fault "partition: 0,512 is for 2 ranks, not for 3" \
  solve A.npz --entry quaternion --partition 0,512

# On GPUs: two share one, or have one each, where NCCL can take the rows too.
on_gpus() { timeout 60 "$mpiexec" "$flag" 2 "$program" "$@" --device cuda; }
system="solve A.npz --entry quaternion --solver cg --quiet"
# shellcheck disable=SC2086 # words
if ! "$heddle" $system --ranks 1 --device cuda --output alone.mtx 2> errors.txt; then
  grep -qE "no GPU can be used|without CUDA" errors.txt || { cat errors.txt >&2; fail "no x on a GPU"; }
  echo "mpi_ranks.sh: no GPU is here"
  exit
fi
for transfer in staged nccl; do
  for exchange in vector naive task; do
    # shellcheck disable=SC2086 # words
    if on_gpus $system --transfer $transfer --exchange $exchange --output x.mtx 2> errors.txt; then
      cmp x.mtx alone.mtx || fail "$transfer, $exchange: another x than one rank has on a GPU"
      rm x.mtx
      echo "mpi_ranks.sh: $transfer, $exchange: the x of one rank on a GPU"
    else
      grep -qE "NCCL needs a GPU for each|libnccl" errors.txt ||
        { cat errors.txt >&2; fail "$transfer, $exchange: no x on GPUs"; }
    fi
  done
done
status=0
on_gpus solve B.mtx --solver bicgstab --preconditioner isai > out.txt 2> errors.txt || status=$?
[ $status -eq 2 ] || fail "on GPUs: status $status, not 2"
grep -q "^heddle-mpi: ISAI: the diagonal entry of row 59995 " errors.txt ||
  { cat errors.txt >&2; fail "on GPUs: another line"; }
