# Fairlead's shell integration for plain shells (dash, busybox ash, bash called sh), read through ENV. All of it happens
# while the shell expands PS1: no process is started, nothing visible is added. A plain shell cannot say when a command
# starts or what it was; the I mark tells the reader that the command is the rest of the line.

# Children must not learn the nonce: nothing of ours is assigned while `set -a` exports what is assigned.
case $- in
  *a*) __fl_all=1 ;;
  *) __fl_all= ;;
esac
set +a

if [ -n "${FAIRLEAD_INTEGRATION-}" ]; then
  __fl_dir=$FAIRLEAD_INTEGRATION
  __fl_name=${FAIRLEAD_SHELL-sh}
  if [ -n "${FAIRLEAD_ENV-}" ]; then
    ENV=$FAIRLEAD_ENV
    export ENV
  else
    unset ENV
  fi
  unset FAIRLEAD_INTEGRATION FAIRLEAD_SHELL FAIRLEAD_ENV
  __fl_nonce=
  # The nonce is gone from the disk before any other program runs.
  { IFS= read -r __fl_nonce <"$__fl_dir/nonce" && : >|"$__fl_dir/nonce"; } 2>/dev/null
  __fl_in=1
  # Assignments left for us: in.1, in.2, … each read once.
  __fl_take() {
    while [ -e "$__fl_dir/in.$__fl_in" ]; do
      . "$__fl_dir/in.$__fl_in"
      command rm -f -- "$__fl_dir/in.$__fl_in"
      __fl_in=$((__fl_in + 1))
    done
    # The file exists when someone asked: from then on every prompt tells.
    if [ -e "$__fl_dir/env" ]; then
      __fl_ask=1
      __fl_dump
    fi
  } 2>/dev/null
  # An empty record says that it is complete.
  __fl_dump() {
    { command env -0 && printf '\0'; } >|"$__fl_dir/env"
  } 2>/dev/null
fi

if [ -n "$__fl_all" ]; then set -a; fi
if [ -n "${ENV-}" ] && [ -r "$ENV" ]; then . "$ENV"; fi
case $- in
  *a*) __fl_all=1 ;;
  *) __fl_all= ;;
esac
set +a

case $- in
  *i*) ;;
  *) __fl_nonce= ;;
esac

if [ -n "${__fl_nonce-}" ]; then
  __fl_n=0 __fl_ask=
  # A plain shell looks only when a signal makes it: between a line being entered and its commands, or after a command that
  # runs. What the user's file traps stays theirs.
  __fl_usr1=0 __fl_winch=
  if [ -n "$__fl_dir" ] && trap >|"$__fl_dir/scratch"; then
    __fl_usr1=1 __fl_winch=line
    while IFS= read -r __fl_line; do
      case $__fl_line in
        *USR1) __fl_usr1=0 ;;
        *WINCH) __fl_winch= ;;
      esac
    done <"$__fl_dir/scratch"
    if [ "$__fl_usr1" = 1 ]; then trap __fl_take USR1; fi
    if [ -n "$__fl_winch" ]; then trap __fl_take WINCH; fi
    if [ "$__fl_winch$__fl_name" = linebash ]; then __fl_winch=now; fi
  fi 2>/dev/null
  __fl_esc=$(printf '\033')
  __fl_bel=$(printf '\007')
  __fl_tail=";fl=$__fl_nonce;n="
  __fl_d="$__fl_esc]133;D;"
  __fl_w="$__fl_esc]1337;CurrentDir="
  __fl_a="$__fl_esc]133;A$__fl_tail"
  __fl_i="$__fl_esc]133;I$__fl_tail"
  __fl_s="$__fl_esc]133;P;k=s$__fl_tail"
  # Line editors must know what takes no room on the screen.
  case $__fl_name in
    ash | bash) __fl_open='\[' __fl_close='\]' ;;
    *) __fl_open= __fl_close= ;;
  esac
  __fl_ps1=${PS1-'$ '} __fl_ps2=${PS2-'> '}
  # An exported prompt must not carry our marks into other shells; there the first variable is unset, and all of it empty.
  PS1=$__fl_open'${__fl_d:+$__fl_d$?$__fl_tail$((__fl_n))$__fl_bel$__fl_w$PWD$__fl_bel${__fl_ask:+$(__fl_dump)}$__fl_a$((__fl_n=__fl_n+1))$__fl_bel}'$__fl_close$__fl_ps1
  PS1=$PS1$__fl_open'${__fl_d:+$__fl_i$((__fl_n))$__fl_bel}'$__fl_close
  PS2=$__fl_open'${__fl_d:+$__fl_s$((__fl_n))$__fl_bel}'$__fl_close$__fl_ps2$__fl_open'${__fl_d:+$__fl_i$((__fl_n))$__fl_bel}'$__fl_close
  printf '\033]633;P;shell=sh;pid=%s;usr1=%s;winch=%s;fl=%s\007' "$$" "$__fl_usr1" "$__fl_winch" "$__fl_nonce"
  # bash never puts an array into the environment, even if `export` names it.
  if [ "$__fl_name" = bash ]; then
    declare -a __fl_nonce __fl_tail __fl_d __fl_w __fl_a __fl_i __fl_s __fl_n __fl_ask __fl_in __fl_dir
    export -n __fl_nonce
  fi
  unset __fl_usr1 __fl_winch __fl_line __fl_esc __fl_open __fl_close __fl_ps1 __fl_ps2 __fl_name
else
  unset __fl_dir __fl_nonce __fl_name
fi
if [ -n "$__fl_all" ]; then
  unset __fl_all
  set -a
else
  unset __fl_all
fi
