# Completion for bash: the programs say which words may stand there. It falls back to files.
_heddle() {
  local program=${COMP_WORDS[0]/#\~/$HOME}
  program=${program/%heddle-mpi/heddle} # which needs no MPI for that
  mapfile -t COMPREPLY < <("$program" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
}
complete -o default -F _heddle heddle heddle-tune heddle-bench heddle-mpi heddle-spin heddle-elastic heddle-heart
