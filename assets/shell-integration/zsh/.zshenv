# Fairlead's shell integration for zsh. Read in place of the user's .zshenv: puts ZDOTDIR back, reads theirs, and lets zsh
# go on with their .zprofile, .zshrc and .zlogin by itself. Marks come from hooks; PROMPT is never touched.

# Children must not learn the nonce. An array never enters the environment, whatever ALL_EXPORT or `export` says, so what
# holds the nonce is one; -H keeps it out of listings.
typeset -g __fl_hooks=$ZDOTDIR/hooks.zsh
if [[ -n ${FAIRLEAD_ZDOTDIR+set} ]]; then
  export ZDOTDIR=$FAIRLEAD_ZDOTDIR
  unset FAIRLEAD_ZDOTDIR
else
  unset ZDOTDIR
fi
if [[ -n ${FAIRLEAD_INTEGRATION-} ]]; then
  typeset -g __fl_dir=$FAIRLEAD_INTEGRATION
  typeset -gaH __fl_nonce
  unset FAIRLEAD_INTEGRATION
  # The nonce is gone from the disk before any other program runs.
  () {
    setopt localoptions noallexport
    local +x line
    IFS= read -r line <$__fl_dir/nonce && : >|$__fl_dir/nonce
    __fl_nonce=($line)
  } 2>/dev/null
fi

if [[ -r ${ZDOTDIR:-$HOME}/.zshenv ]]; then
  . "${ZDOTDIR:-$HOME}/.zshenv"
fi

if [[ -o interactive && -n ${__fl_nonce-} ]]; then
  () {
    typeset -gi __fl_n=0 __fl_ran=0 __fl_in=1
    typeset -g __fl_pwd= __fl_eol= __fl_eol_export= __fl_mute=
    typeset -gaH __fl_tail
    __fl_tail=(";fl=$__fl_nonce;n=")
    [[ $__fl_dir == /* && -w $__fl_dir ]] || __fl_dir=

    emulate zsh -o noxtrace -o noerrexit -o noerrreturn -c '. "$__fl_hooks"'
    typeset -ga precmd_functions preexec_functions
    precmd_functions=(__fl_precmd $precmd_functions)
    preexec_functions=(__fl_preexec $preexec_functions)
  }
else
  unset __fl_dir __fl_nonce 2>/dev/null
fi
unset __fl_hooks
