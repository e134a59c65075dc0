# Completion for fish: the program says which words may stand there, next to files.
function __heddle_complete
    set -l words (commandline -opc)
    $words[1] --complete $words[2..] (commandline -ct)
end
for program in heddle heddle-tune heddle-bench heddle-spin heddle-elastic heddle-heart
    complete -c $program -a "(__heddle_complete)"
end
