import type { Option } from '../../faces/cli/args.ts';
import { type Spot, takesValue, valuesOf } from './table.ts';

type Table = ReadonlyMap<string, Spot>;

/**
 * The table as a function of both shells: `offers` are words (`.` for a file), `flags` are options. What follows an option
 * is said behind it: `=` a value, `=/` a directory, `=.` a file, `=a|b` one of these, `:a|b` one of these or none.
 */
function tableFunction(table: Table): string {
  const cases = [...table].map(([before, { words, options }]) => {
    const offers = words === 'file' ? '.' : words.map(({ word }) => word).join(' ');
    return `    '${before}') offers='${offers}' flags='${options.map(encoded).join(' ')}' ;;`;
  });
  return `_fairlead_at() {\n  offers= flags=\n  case $1 in\n${cases.join('\n')}\n  esac\n}`;
}

function encoded(option: Option): string {
  if (!takesValue(option) && option.form !== 'optional') return option.flag;
  const values = valuesOf(option);
  const known = values === 'dir' ? '/' : values === 'file' ? '.' : values.join('|');
  return `${option.flag}${takesValue(option) ? '=' : ':'}${known}`;
}

/** Goes past one word that is complete: `at` are the commands so far, `flag` is an option whose value comes next. */
const passFunction = `_fairlead_pass() {
  if [[ -n $flag ]]; then
    flag=
  elif [[ $1 == -* ]]; then
    if [[ " $flags" == *" $1="* ]]; then flag=$1; fi
  elif [[ " $offers " == *" $1 "* ]]; then
    at="\${at:+$at }$1"
    _fairlead_at "$at"
  else
    offers=
  fi
}`;

export const bash = (
  table: Table,
): string => `# fairlead completion bash > ~/.local/share/bash-completion/completions/fairlead
${tableFunction(table)}
${passFunction}
_fairlead() {
  local offers flags at= flag= values= one known= i cur=\${COMP_WORDS[COMP_CWORD]}
  _fairlead_at ''
  for ((i = 1; i < COMP_CWORD; i++)); do
    one=\${COMP_WORDS[i]}
    # --flag=value comes as three words.
    if [[ $one == '=' ]]; then flag=\${COMP_WORDS[i-1]}; continue; fi
    _fairlead_pass "$one"
  done
  if [[ $cur == '=' ]]; then flag=\${COMP_WORDS[COMP_CWORD-1]} cur=; fi
  for one in $flags; do
    known+=" \${one%%[=:]*}"
    case $one in "$flag="* | "$flag:"*) values=\${one#"$flag"[=:]} ;; esac
  done
  if [[ -n $flag ]]; then known=\${values//|/ }
  elif [[ $cur == -* ]]; then values=
  elif [[ $offers == . ]]; then values=.
  elif [[ -n $offers ]]; then known=$offers
  elif [[ -n $cur ]]; then known=
  fi
  local IFS=$'\\n'
  case $values in
    /) compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -d -- "$cur")) ;;
    .) compopt -o filenames 2> /dev/null; COMPREPLY=($(compgen -f -- "$cur")) ;;
    *) IFS=$' \\n'; COMPREPLY=($(compgen -W "$known" -- "$cur")) ;;
  esac
}
complete -F _fairlead fairlead
`;

export const zsh = (table: Table): string => `#compdef fairlead
# In a folder of $fpath, such as: fairlead completion zsh > "\${fpath[1]}/_fairlead"
# Or in ~/.zshrc, after compinit: source <(fairlead completion zsh)
${tableFunction(table)}
${passFunction}
_fairlead() {
  local offers flags at flag values one cur=$words[CURRENT]
  local -i i
  _fairlead_at ''
  for ((i = 2; i < CURRENT; i++)); do
    _fairlead_pass "$words[i]"
  done
  if [[ -z $flag && $cur == --*=* ]]; then
    flag=\${cur%%=*}
    compset -P '*='
  fi
  for one in \${=flags}; do
    [[ -n $flag && ( $one == "$flag="* || $one == "$flag:"* ) ]] && values=\${one#"$flag"[=:]}
  done
  if [[ -n $flag ]]; then
    case $values in
      /) _files -/ ;;
      .) _files ;;
      ?*) compadd -- \${(s:|:)values} ;;
    esac
  elif [[ $cur == -* ]]; then compadd -- \${\${=flags}%%[=:]*}
  elif [[ $offers == . ]]; then _files
  elif [[ -n $offers ]]; then compadd -- \${=offers}
  elif [[ -z $cur ]]; then compadd -- \${\${=flags}%%[=:]*}
  fi
}
# Loaded by the first Tab, this file is the function and has to answer; otherwise it only says who does.
if [[ $funcstack[1] == _fairlead ]]; then _fairlead "$@"; else compdef _fairlead fairlead; fi
`;
