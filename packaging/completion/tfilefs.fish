# SPDX-License-Identifier: Apache-2.0
# Completion of tfilefs for fish. The program says what may follow: tfilefs complete WORD...

function __tfilefs_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l raw (commandline -ct)
    # As the program would get it: without backslashes and quotes.
    set -l current (string unescape -- "$raw")
    or set current "$raw"
    for line in ($program complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$raw"
            case :directories
                __fish_complete_directories "$raw"
            case '*'
                echo $line
        end
    end
end

complete -c tfilefs -f -a '(__tfilefs_complete)'
