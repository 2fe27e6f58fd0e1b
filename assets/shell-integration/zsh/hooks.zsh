# The hooks of Fairlead's shell integration for zsh. Read under `emulate -c`, which gives each function these options for
# life: whatever the user sets, the hooks run as written and stay out of traces.

__fl_precmd() {
  local __fl_status=$? REPLY
  [[ ${widgets[zle-line-init]-} == user:__fl_line_init ]] || __fl_widget
  __fl_hook
  (( __fl_n )) || __fl_announce
  (( ! __fl_ran )) || __fl_finish $__fl_status
  [[ -n $__fl_dir ]] && __fl_exchange
  (( __fl_n += 1 ))
  if [[ ! -t 1 ]]; then return; fi
  if [[ $PWD != $__fl_pwd ]]; then
    __fl_pwd=$PWD
    __fl_encode $PWD
    builtin print -rn -- $'\e]7;file://'$HOST$REPLY$'\a'
  fi
  builtin print -rn -- $'\e]133;A'$__fl_tail$__fl_n$__fl_mute$'\a'
}

# Tells how a command went.
__fl_finish() {
  [[ -t 1 ]] && builtin print -rn -- $'\e]133;D;'$1$__fl_tail$__fl_n$__fl_mute$'\a'
  __fl_ran=0
  if [[ ${PROMPT_EOL_MARK-} == *$__fl_tail* ]]; then
    if [[ -n $__fl_eol ]]; then PROMPT_EOL_MARK=${__fl_eol#=}; else unset PROMPT_EOL_MARK; fi
    if [[ -n $__fl_eol_export ]]; then typeset -gx PROMPT_EOL_MARK; fi
  fi
}

# A command that empties a list of hooks takes ours away, and one that fails keeps those after it from running: ours go first
# again at the next prompt. Where that cannot be, the marks say that they tell nothing of commands any more.
__fl_hook() {
  __fl_mute=
  if [[ ${preexec_functions[1]-} != __fl_preexec ]]; then
    if [[ ${(t)preexec_functions} == *readonly* ]]; then __fl_mute=';mute=1'
    else preexec_functions=(__fl_preexec ${preexec_functions:#__fl_preexec})
    fi
  fi
  if [[ ${precmd_functions[1]-} != __fl_precmd && ${(t)precmd_functions} != *readonly* ]]; then
    precmd_functions=(__fl_precmd ${precmd_functions:#__fl_precmd})
  fi
}

__fl_preexec() {
  local REPLY
  [[ -n $__fl_dir ]] && __fl_take
  __fl_ran=1
  # zsh prints its missing-newline sign before any hook runs. It is no part of the output, so D goes before it.
  __fl_eol="${PROMPT_EOL_MARK+=$PROMPT_EOL_MARK}"
  # The nonce stands in it while the command runs, so no child gets it meanwhile.
  __fl_eol_export=
  if [[ ${(t)PROMPT_EOL_MARK} == *export* ]]; then
    __fl_eol_export=1
    typeset -g +x PROMPT_EOL_MARK
  fi
  PROMPT_EOL_MARK=$'%{\e]133;D;%?'$__fl_tail$__fl_n$'\a%}'${PROMPT_EOL_MARK-%B%S%#%s%b}
  if [[ ! -t 1 ]]; then return; fi
  __fl_escape $1
  builtin print -rn -- $'\e]633;E;'$REPLY$__fl_tail$__fl_n$'\a\e]133;C'$__fl_tail$__fl_n$'\a'
}

# At the first prompt: the user's files have set the traps they want.
__fl_announce() {
  local winch=
  if [[ -n $__fl_dir ]] && builtin trap >|$__fl_dir/scratch && [[ $(<$__fl_dir/scratch) != *WINCH* ]]; then
    # Heard at the prompt at once.
    builtin trap '__fl_exchange' WINCH
    winch=now
  fi
  [[ -t 1 ]] && builtin print -rn -- $'\e]633;P;shell=zsh;pid='$$$';usr1=0;winch='$winch$';fl='$__fl_nonce$'\a'
}

# The editor starts once the prompt, right prompt included, is drawn.
__fl_line_init() {
  local __fl_status=$?
  case ${CONTEXT-} in
    start)
      __fl_hook
      # The hook before the prompt did not run.
      (( ! __fl_ran )) || __fl_finish $__fl_status
      builtin print -rn -- $'\e]133;B'$__fl_tail$__fl_n$'\a'
      ;;
    cont) builtin print -rn -- $'\e]133;P;k=s'$__fl_tail$__fl_n$'\a' ;;
  esac
  (( ! $+widgets[__fl_user_line_init] )) || zle __fl_user_line_init -- "$@"
}

# Whoever takes the editor's start for themselves is called by ours.
__fl_widget() {
  if (( $+widgets[zle-line-init] )); then zle -A zle-line-init __fl_user_line_init; fi
  zle -N zle-line-init __fl_line_init
}

__fl_escape() {
  # Whoever reads it takes no more than 8 KiB.
  local text=${1[1,1500]}
  [[ $text == *\\* ]] && text=${text//\\/\\\\}
  [[ $text == *\;* ]] && text=${text//;/\\x3b}
  if [[ $text == *[[:cntrl:]]* ]]; then
    local hex char
    for hex in 0{1..9} 0{a,b,c,d,e,f} 1{0..9} 1{a,b,c,d,e,f} 7f; do
      builtin printf -v char "\\x$hex"
      text=${text//$char/\\x$hex}
    done
  fi
  REPLY=$text
}

__fl_encode() {
  setopt localoptions nomultibyte
  local text=$1 char code
  local -i i
  REPLY=
  if [[ $text != *[^a-zA-Z0-9/._~-]* ]]; then REPLY=$text; return; fi
  for (( i = 1; i <= $#text; i++ )); do
    char=$text[i]
    if [[ $char == [a-zA-Z0-9/._~-] ]]; then
      REPLY+=$char
    else
      builtin printf -v code '%%%02X' $(( #char & 255 ))
      REPLY+=$code
    fi
  done
}

# Assignments left for us: in.1, in.2, … each read once.
__fl_take() {
  while [[ -e $__fl_dir/in.$__fl_in ]]; do
    . $__fl_dir/in.$__fl_in
    command rm -f -- $__fl_dir/in.$__fl_in
    (( __fl_in += 1 ))
  done
}

__fl_exchange() {
  __fl_take
  [[ -e $__fl_dir/env ]] && __fl_dump
}

# The file exists when someone asked; an empty record says that it is complete.
__fl_dump() {
  local name
  local -a all
  for name in ${${(k)parameters[(R)*export*]}:#__fl_*}; do all+=("$name=${(P)name}"); done
  builtin print -rN -- "${all[@]}" '' >|$__fl_dir/env
}
