import { fieldsOf } from '../faces/cli/fields.ts';
import { UsageError } from '../faces/cli/args.ts';
import { verbsOf } from '../faces/cli/verbs.ts';
import { sessionBook } from '../operations/session/index.ts';
import { commands } from './index.ts';
import type { Invocation } from './command.ts';

/** A word to complete and what stands before it: `session` → its verbs, `session create` → its flags. */
type Table = ReadonlyMap<string, readonly string[]>;

/** `fairlead completion bash|zsh|fish`: a script for the shell, made from the table of verbs. */
export async function completion({ words, stdout }: Invocation): Promise<number> {
  const [shell] = words;
  const write = shells[shell ?? ''];
  if (!write || words.length > 1) throw new UsageError(`Name a shell: ${Object.keys(shells).join(', ')}.`);
  stdout.write(write(tableOf()));
  return 0;
}

function tableOf(): Table {
  const table = new Map<string, readonly string[]>();
  const verbs = verbsOf(sessionBook);
  table.set('', [...commands.flatMap(({ name, otherName = [] }) => [name].concat(otherName)), ...verbs.keys()]);
  for (const { name, flags = [] } of commands)
    table.set(
      name,
      flags.map(({ flag }) => flag),
    );
  for (const [noun, known] of verbs) {
    table.set(noun, [...known.keys()]);
    for (const [verb, { op }] of known) {
      table.set(`${noun} ${verb}`, [
        ...fieldsOf(op).map(({ flag }) => flag),
        '--session',
        '--instance',
        '--json',
        '--help',
      ]);
    }
  }
  return table;
}

const entries = (table: Table): [string, string][] => [...table].map(([before, after]) => [before, after.join(' ')]);

/** Branches of a `case` in bash and zsh. */
const cases = (table: Table): string =>
  entries(table)
    .map(([before, after]) => `    ${before === '' ? "''" : `'${before}'*`}) known='${after}' ;;`)
    .toSorted((a, b) => b.length - a.length)
    .join('\n');

const shells: Readonly<Record<string, (table: Table) => string>> = {
  bash: (table) => `# fairlead completion bash > ~/.local/share/bash-completion/completions/fairlead
_fairlead() {
  local word=\${COMP_WORDS[COMP_CWORD]} before="\${COMP_WORDS[*]:1:COMP_CWORD-1}" known=
  case $before in
${cases(table)}
  esac
  COMPREPLY=($(compgen -W "$known" -- "$word"))
}
complete -F _fairlead fairlead
`,
  zsh: (table) => `#compdef fairlead
# fairlead completion zsh > "\${fpath[1]}/_fairlead"
_fairlead() {
  local before="\${words[2,CURRENT-1]}" known=
  case $before in
${cases(table)}
  esac
  compadd -- \${=known}
}
compdef _fairlead fairlead
`,
  fish: (table) =>
    `# fairlead completion fish > ~/.config/fish/completions/fairlead.fish
complete -c fairlead -f
function __fairlead_at
    set -l words (commandline -opc)
    test "$words[2..-1]" = "$argv"
end
${entries(table)
  .map(([before, after]) => `complete -c fairlead -n "__fairlead_at ${before}" -a '${after}'`)
  .join('\n')}
`,
};
