# SPDX-License-Identifier: Apache-2.0
# Completion of tfilefs for bash. The program says what may follow: tfilefs complete WORD...

_tfilefs() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() word i
  # readline breaks words at "=" and ":", too; here they are put together again.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $i -gt 0 && $rest != [[:space:]]* ]]; then
      words[-1]+=$word
    else
      words+=("$word")
    fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    rest=${rest#"$word"}
  done
  local typed=${COMP_WORDS[COMP_CWORD]}
  [[ $typed == [=:] ]] && typed=
  # What readline keeps of the word, and what it replaces, without their quotes.
  local kept=${words[-1]%"$typed"} line
  typed=${typed//\\/}
  typed=${typed#[\"\']}
  words=("${words[@]//\\/}")
  words=("${words[@]#[\"\']}")
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :files)
        compopt -o filenames
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$typed")
        ;;
      :directories)
        compopt -o filenames
        mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$typed")
        ;;
      *)
        line=${line%%$'\t'*}
        COMPREPLY+=("${line#"$kept"}")
        [[ $line == */* ]] && compopt -o filenames
        [[ $line == *[=/,] ]] && compopt -o nospace
        ;;
    esac
  done < <("${words[0]/#\~/$HOME}" complete "${words[@]:1}" 2>/dev/null)
}

complete -F _tfilefs tfilefs
