import type { CommandLook } from './look.ts';
import { readInput, isShellName, withoutVersion } from './special.ts';
import { isStream, type Word } from './word.ts';

/** Programs that run a script file. A file on disk counts like a program; data sent to a process does not. */

/** Languages whose first operand is the script, and the letters of options that make it something else, or need none. */
const languages: Readonly<Record<string, string>> = {
  python: 'cmVh',
  pypy: 'cmVh',
  perl: 'eEvVh',
  ruby: 'evh',
  node: 'epcvh',
  nodejs: 'epcvh',
  deno: '',
  bun: '',
  php: 'rvih',
  lua: 'ev',
  luajit: 'ev',
  tclsh: '',
  wish: '',
  expect: 'cv',
  Rscript: 'e',
  guile: 'cevh',
  osascript: 'e',
  m4: '',
};

/** Options whose value is a script. */
const scriptOptions: Readonly<Record<string, RegExp>> = {
  make: /^(?:-[A-Za-z]*f|--(?:fi|mak)[a-z]*)$/,
  gmake: /^(?:-[A-Za-z]*f|--(?:fi|mak)[a-z]*)$/,
  awk: /^(?:-[A-Za-z]*[fiEl]|--(?:fi|inc|ex|lo)[a-z]*)$/,
  gawk: /^(?:-[A-Za-z]*[fiEl]|--(?:fi|inc|ex|lo)[a-z]*)$/,
  mawk: /^-[A-Za-z]*f$/,
  sed: /^(?:-[A-Za-z]*f|--fi[a-z]*)$/,
  gdb: /^--?(?:x|ix|command|init-command)$/,
  lldb: /^(?:-[sS]|--source[a-z-]*)$/,
  vim: /^(?:-[Sus]|--cmd)$/,
  vi: /^(?:-[Sus]|--cmd)$/,
  nvim: /^(?:-[Susl]|--cmd)$/,
  ex: /^-[Sus]$/,
  emacs: /^(?:-l|--load|--script|-x)$/,
  sqlite: /^--?init$/,
  psql: /^(?:-[A-Za-z]*f|--file)$/,
  tmux: /^(?:-f|source-file|source)$/,
  screen: /^-[A-Za-z]*c$/,
  sftp: /^-[A-Za-z]*[bF]$/,
  scp: /^-[A-Za-z]*F$/,
};

/** Options whose value is a program that is sent data. */
const filterOptions: Readonly<Record<string, RegExp>> = {
  sort: /^--co[a-z-]*$/,
  split: /^--f[a-z]*$/,
  tar: /^(?:-[A-Za-z]*[IF]|--(?:us|to-c|rs|rm|inf|new-v|ch)[a-z-]*)$/,
};

/** Words that make a program run something from a place that cannot be read here. */
export function readsScript(look: CommandLook): void {
  const name = look.name.replace(/[\d.]+$/, '');
  const filter = Object.hasOwn(filterOptions, name) ? filterOptions[name] : undefined;
  if (filter !== undefined) valuesOf(look, filter, (word) => filtered(look, word));
  if (Object.hasOwn(languages, name)) return language(look, languages[name] ?? '');
  const option = Object.hasOwn(scriptOptions, name) ? scriptOptions[name] : undefined;
  if (option === undefined) return;
  valuesOf(look, option, (word) => script(look, word));
}

/** The values of options: `-f x`, `-f/dev/fd/3`, `--file=x`. */
function valuesOf({ args }: CommandLook, option: RegExp, each: (word: Word) => void): void {
  for (const [at, word] of args.entries()) {
    const next = args[at + 1];
    if (option.test(word.text) && next !== undefined) each(next);
    const [head = ''] = word.text.startsWith('--') ? word.text.split('=', 1) : (/^-[A-Za-z]/.exec(word.text) ?? []);
    if (head.length < word.text.length && option.test(head))
      each({ ...word, text: word.text.slice(head.length).replace(/^=/, '') });
  }
}

/** `sort --compress-program=sh`: what is sorted would be run. */
function filtered({ name, problem }: CommandLook, { text }: Word): void {
  const [program = ''] = text
    .replace(/^exec=/, '')
    .trim()
    .split(/\s/, 1);
  const base = withoutVersion(program.slice(program.lastIndexOf('/') + 1));
  if (isShellName(base) || Object.hasOwn(languages, base.replace(/[\d.]+$/, '')))
    problem(`${name} would have ${base} run whatever it is sent`);
}

function language(look: CommandLook, letters: string): void {
  const other = letters === '' ? /^--/ : new RegExp(`^-(?:[A-Za-z]*[${letters}]|-.)`);
  const at = look.args.findIndex(({ text }) => !/^-./s.test(text));
  const before = at === -1 ? look.args : look.args.slice(0, at);
  if (before.some(({ text }) => other.test(text))) return;
  if (at === -1) return readInput(look);
  script(look, look.args[at]);
}

function script(look: CommandLook, file: Word | undefined): void {
  if (file === undefined) return;
  const descriptor = isStream(file.text) && file.text !== '-';
  if (file.sent === true || (descriptor && look.command.stdin === undefined))
    look.problem(`what ${look.name} would run is known only when it runs; name a file`);
  else if (isStream(file.text) && look.command.stdin === undefined) readInput(look);
}
