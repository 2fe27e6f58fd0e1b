# Fairlead's shell integration for bash 4.4 and newer. Started as `bash --rcfile`: first what bash would have read, then
# marks (OSC 133, 633, 7) around prompt, command and output. No DEBUG trap, no processes started, nothing visible.

# Children must not learn the nonce. An array never enters the environment, whatever `set -a` or `export` says, so every
# variable of ours is one; a plain assignment changes its element 0. `set +a` keeps them out of `export -p` as well.
__fl_allexport=()
[[ $- == *a* ]] && __fl_allexport=(1)
set +a
declare -a __fl_dir __fl_login __fl_nonce

if [[ -n ${FAIRLEAD_INTEGRATION-} ]]; then
  __fl_dir=$FAIRLEAD_INTEGRATION
  __fl_login=${FAIRLEAD_LOGIN-}
  unset -v FAIRLEAD_INTEGRATION FAIRLEAD_LOGIN
  # The nonce is gone from the disk before any other program runs.
  IFS= read -r __fl_nonce <"$__fl_dir/nonce" && : >|"$__fl_dir/nonce"
fi 2>/dev/null

# Functions first: the user's aliases do not exist yet.
if [[ -n ${__fl_nonce-} && $- == *i* ]] && ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 404)); then

__fl_n=(0) __fl_m=(0) __fl_ran=(0) __fl_status=(0) __fl_in=(1) __fl_pwd=('') __fl_hist=('')
# PS0 reads element 0 through assignments, so that the next prompt knows which command ran.
__fl_c=('')
# PS1 reads the element __fl_ran: a command that no prompt command has reported is reported by the prompt itself.
__fl_d=('' $'\e]133;D;' $';mute=1\a\e]1337;CurrentDir=' $'\a')
__fl_a=('') __fl_b=('') __fl_s=('')
__fl_tail=(";fl=$__fl_nonce;n=")
[[ $__fl_dir == /* && -w $__fl_dir ]] || __fl_dir=

# Runs before every other prompt command.
__fl_before() {
  __fl_status=$?
  local flags=$-
  local +x REPLY
  local -
  set +aeux
  if ((__fl_ran)); then
    __fl_history
    [[ -t 1 ]] && builtin printf '%s\e]133;D;%s%s%s\a' "$REPLY" "$__fl_status" "$__fl_tail" "$__fl_n"
    __fl_ran=0
  fi
  # Prompt commands that look at $? must see the user's; under `set -e` that would end the shell.
  [[ $flags == *e* ]] && return 0
  return "$__fl_status"
}

# Runs after every other prompt command, because they may have built a new PS1.
__fl_after() {
  local +x REPLY tail
  local -
  set +aeux
  # `declare -x` of every name there is marks ours too.
  declare -g +x "${!__fl_@}"
  [[ -n $__fl_dir ]] && __fl_exchange
  # What the history held before is not what the first command will be.
  ((__fl_n == 0)) && __fl_history
  ((__fl_n += 1))
  tail=$__fl_tail$__fl_n$'\a'
  __fl_a=$'\e]133;A'$tail __fl_b=$'\e]133;B'$tail __fl_s=$'\e]133;P;k=s'$tail __fl_c[0]=$'\e]133;C'$tail
  local late='${__fl_d[__fl_ran]:+${__fl_d[1]}$?$__fl_tail$((__fl_m))${__fl_d[2]}$PWD${__fl_d[3]}${__fl_d[__fl_ran=0]}}'
  local a='\['$late'${__fl_a}\]' b='\[${__fl_b}\]' s='\[${__fl_s}\]' c='${__fl_c[__fl_ran=1,__fl_m=__fl_n,0]}'
  if ! shopt -q promptvars; then
    # Prompts are shown as they stand: ours would be seen.
    PS0=${PS0//"$c"/} PS1=${PS1//"$a"/} PS1=${PS1//"$b"/} PS2=${PS2//"$s"/}
    return
  fi
  if [[ $PS1 != "$a"*"$b" ]]; then
    PS1=${PS1//"$a"/} PS1=${PS1//"$b"/}
    PS1=$a$PS1$b
  fi
  [[ ${PS2-} == "$s"* ]] || PS2=$s${PS2-}
  [[ ${PS0-} == *"$c" ]] || PS0=${PS0//"$c"/}$c
  if [[ $PWD != "$__fl_pwd" ]]; then
    __fl_pwd=$PWD
    __fl_encode "$PWD"
    [[ -t 1 ]] && builtin printf '\e]7;file://%s%s\a' "$HOSTNAME" "$REPLY"
  fi
}

# Leaves the mark with the command's text in REPLY; nothing when the history did not take the command.
__fl_history() {
  REPLY=
  [[ -n $__fl_dir ]] || return
  local HISTTIMEFORMAT= line number
  builtin history 1 >|"$__fl_dir/scratch"
  IFS= read -r -d '' line <"$__fl_dir/scratch"
  line=${line#"${line%%[! ]*}"}
  number=${line%%[!0-9]*}
  [[ -n $number && $number != "$__fl_hist" ]] || return
  # After the number: a star when the entry was changed, and a blank.
  line=${line:${#number}+2} line=${line%$'\n'}
  __fl_hist=$number
  __fl_escape "$line"
  REPLY=$'\e]633;E;'$REPLY$__fl_tail$__fl_n$'\a'
}

__fl_escape() {
  # Whoever reads it takes no more than 8 KiB.
  local text=${1:0:1500} hex char
  [[ $text == *\\* ]] && text=${text//\\/\\\\}
  [[ $text == *\;* ]] && text=${text//;/\\x3b}
  if [[ $text == *[[:cntrl:]]* ]]; then
    for hex in 0{1..9} 0{a,b,c,d,e,f} 1{0..9} 1{a,b,c,d,e,f} 7f; do
      builtin printf -v char "\\x$hex"
      text=${text//"$char"/\\x$hex}
    done
  fi
  REPLY=$text
}

__fl_encode() {
  local LC_ALL=C text=$1 char code
  REPLY=
  if [[ $text != *[!a-zA-Z0-9/._~-]* ]]; then REPLY=$text; return; fi
  local -i i
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    if [[ $char == [a-zA-Z0-9/._~-] ]]; then REPLY+=$char
    else
      builtin printf -v code '%d' "'$char"
      builtin printf -v code '%%%02X' "$((code & 255))"
      REPLY+=$code
    fi
  done
}

# Assignments left for us: in.1, in.2, … each read once.
__fl_take() {
  while [[ -e $__fl_dir/in.$__fl_in ]]; do
    . "$__fl_dir/in.$__fl_in"
    command rm -f -- "$__fl_dir/in.$__fl_in"
    ((__fl_in += 1))
  done
}

__fl_exchange() {
  __fl_take
  [[ -e $__fl_dir/env ]] && __fl_dump
}

# The file exists when someone asked; an empty record says that it is complete.
__fl_dump() {
  local -a names all
  local name
  compgen -e >|"$__fl_dir/scratch"
  mapfile -t names <"$__fl_dir/scratch"
  for name in "${names[@]}"; do [[ $name == __fl_* ]] || all+=("$name=${!name-}"); done
  builtin printf '%s\0' "${all[@]}" '' >|"$__fl_dir/env"
}

__fl_signal() {
  local -
  set +aeux
  [[ -n $__fl_dir ]] && __fl_exchange
}

__fl_install() {
  local usr1=0 winch=
  local -
  set +a
  # Stderr is put away to keep the calls themselves out of `set -x`.
  local before='{ __fl_before; } 2>/dev/null' after='{ __fl_after; } 2>/dev/null'
  if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 501)); then
    PROMPT_COMMAND=("$before" "${PROMPT_COMMAND[@]}" "$after")
  else
    local user=${PROMPT_COMMAND-}
    while [[ $user == *[[:space:]\;] ]]; do user=${user%?}; done
    PROMPT_COMMAND=$before${user:+$'\n'$user}$'\n'$after
  fi
  # WINCH is heard at the prompt at once, USR1 when a line is entered. The argument keeps $_ as it was.
  if [[ -n $__fl_dir && -z $(builtin trap -p USR1) ]]; then
    trap '{ __fl_signal "$_"; } 2>/dev/null' USR1
    usr1=1
  fi
  if [[ -n $__fl_dir && -z $(builtin trap -p WINCH) ]]; then
    trap '{ __fl_signal "$_"; } 2>/dev/null' WINCH
    winch=now
  fi
  [[ -t 1 ]] && builtin printf '\e]633;P;shell=bash;pid=%s;usr1=%s;winch=%s;fl=%s\a' "$$" "$usr1" "$winch" "$__fl_nonce"
}

else
  unset -v __fl_nonce __fl_dir
fi

[[ -n ${__fl_allexport-} ]] && set -a
unset -v __fl_allexport

if [[ -n ${__fl_login-} ]]; then
  [[ -r /etc/profile ]] && . /etc/profile
  if [[ -r ~/.bash_profile ]]; then . ~/.bash_profile
  elif [[ -r ~/.bash_login ]]; then . ~/.bash_login
  elif [[ -r ~/.profile ]]; then . ~/.profile
  fi
elif [[ -r ~/.bashrc ]]; then
  . ~/.bashrc
fi
unset -v __fl_login

if [[ -n ${__fl_nonce-} ]]; then
  __fl_install
  unset -f __fl_install
fi
