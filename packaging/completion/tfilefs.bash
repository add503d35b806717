# SPDX-License-Identifier: Apache-2.0
# Completion of tfilefs for bash; to be installed as /usr/share/bash-completion/completions/tfilefs.

_tfilefs_mounts() {
  awk '$3 == "fuse.tfilefs" { print $2 }' /proc/self/mounts
}

_tfilefs_option() {
  local given=$1 last=${1##*,}
  local before=${given%"$last"}
  local names="ro rw compression=none compression=zlib compression=lzma compression=lz4 compression=zstd autoflush= commit= memory= threads= readahead= prefetch=off prefetch=sequential prefetch=learn views=hidden views=listed
    idle= allow_other uid= gid= umask= noexec noatime"
  compopt -o nospace
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$names" -- "$last")
}

_tfilefs() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  COMPREPLY=()
  # "=" and "," inside -o may have been taken for word breaks.
  if [[ $previous == -o ]]; then
    _tfilefs_option "$current"
    return
  fi
  case ${COMP_WORDS[1]} in
    umount)
      mapfile -t COMPREPLY < <(compgen -W "$(_tfilefs_mounts) --lazy --help" -- "$current")
      return
      ;;
    commit)
      mapfile -t COMPREPLY < <(compgen -W "$(_tfilefs_mounts) --help" -- "$current")
      return
      ;;
    ls)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "-l -R --json -o --help" -- "$current")
        return
      fi
      ;;
    stats)
      if [[ $previous != -w ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_tfilefs_mounts) -b -w --help" -- "$current")
      fi
      return
      ;;
    map | check | classes | recover)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "--help" -- "$current")
        return
      fi
      ;;
    *)
      if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "-f -d -o --help --version" -- "$current")
        return
      fi
      if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "umount commit recover ls map check stats classes" -- "$current")
      fi
      ;;
  esac
  compopt -o filenames
  mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
}

complete -F _tfilefs tfilefs
