import type { Option } from '../../faces/cli/args.ts';
import { type Spot, takesValue, valuesOf } from './table.ts';

/** fish completes options and values itself; it only needs the words before the cursor. */
export function fish(table: ReadonlyMap<string, Spot>): string {
  const all = [...table.values()].flatMap(({ options }) => options);
  const valued = [...new Set(all.filter(takesValue).map(({ flag }) => flag))];
  return `# fairlead completion fish > ~/.config/fish/completions/fairlead.fish
complete -c fairlead -f
function __fairlead_words
    set -l skip
    for word in (commandline -opc)[2..]
        if test -n "$skip"
            set skip
        else if contains -- $word ${valued.join(' ')}
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end
# Exactly these words, or these and others that mean nothing to completion.
function __fairlead_at
    set -l before (__fairlead_words | string join ' ')
    test "$before" = "$argv"
end
function __fairlead_in
    set -l before (__fairlead_words | string join ' ')
    string match -q -- "$argv *" "$before "
end
${[...table].flatMap(([before, spot]) => lines(before, spot)).join('\n')}
`;
}

function lines(before: string, { words, options }: Spot): string[] {
  const at = `complete -c fairlead -n '__fairlead_at ${before}'`;
  // Options of a verb may stand anywhere behind it, those of a noun only where the verb is still to come.
  const mayFollow = words === 'file' || words.length === 0;
  const inside = mayFollow ? `complete -c fairlead -n '__fairlead_in ${before}'` : at;
  return [
    ...(words === 'file' ? [`${at} -F`] : words.map(({ word, help }) => `${at} -a ${word}${described(help)}`)),
    ...options.map((option) => `${inside} -l ${option.flag.slice(2)}${valueOf(option)}${described(option.help)}`),
  ];
}

function valueOf(option: Option): string {
  const values = valuesOf(option);
  const need = takesValue(option) ? ' -x' : '';
  if (values === 'file') return takesValue(option) ? ' -r -F' : ' -F';
  if (values === 'dir') return `${need} -a '(__fish_complete_directories)'`;
  return values.length === 0 ? need : `${need} -a '${values.join(' ')}'`;
}

const described = (help: string): string =>
  help === '' ? '' : ` -d '${help.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
