import { assigned } from './assignments.ts';
import type { CommandLook } from './look.ts';
import { kindOf } from './variables.ts';
import { unknown, type Word } from './word.ts';
import { afterOptions, row } from './wrappers.ts';

/** Builtins that take the names of variables as words, and give them values. */

/** Their value comes from elsewhere, so what it makes run is unknown. */
function named({ name, problem }: CommandLook, names: readonly (Word | undefined)[]): void {
  for (const word of names) {
    if (word === undefined) continue;
    if (word.dynamic) {
      problem(`which variable ${name} sets is known only when it runs; name it`);
      continue;
    }
    const variable = /^[A-Za-z_]\w*/.exec(word.text)?.[0] ?? '';
    const kind = kindOf(variable);
    if (kind !== undefined)
      problem(`${name} would set ${variable}, which decides what is run; assign it as NAME=value`);
  }
}

/** What is read becomes a value, and arithmetic runs what stands in that. */
function taken({ command, text }: CommandLook): void {
  const given = command.stdin?.text ?? '';
  if (/\$\(|`/.test(given)) text(`: "${given.replaceAll('"', '\\"').replaceAll(unknown, ' ')}"`);
}

const readOptions = row('adiNnptu', 'ersAcElkqz');
const mapOptions = row('dnOsuCc', 't');

function read(look: CommandLook): void {
  look.add(false);
  taken(look);
  const { rest, values, problem } = afterOptions(look.args, readOptions);
  if (problem !== undefined) look.problem(`read: ${problem}`);
  named(look, [values.get('a'), ...rest.map(beforeQuestion)]);
}

/** zsh: `read name?prompt`. */
const beforeQuestion = (word: Word): Word => ({ ...word, text: word.text.replace(/\?.*$/s, '') });

function mapfile(look: CommandLook): void {
  look.add(false);
  taken(look);
  const { rest, values } = afterOptions(look.args, mapOptions);
  look.spoken(values.get('C'));
  named(look, rest);
}

/** `-v NAME`, joined to it or not, among the other options. */
function intoVariable(look: CommandLook): void {
  look.add(false);
  const { name, args, problem } = look;
  for (const [at, { text, dynamic }] of args.entries()) {
    if (!/^-./s.test(text) || text === '--') break;
    if (dynamic) problem(`an option of ${name} is known only when it runs`);
    const place = text.indexOf(name === 'wait' ? 'p' : 'v');
    if (name === 'print' && text.includes('P') && args.some((one) => /[$`\0]/.test(one.text)))
      problem('print -P runs what stands in its text; leave out -P');
    if (name === 'print' && text.includes('z')) problem('print -z types a line for later; run it instead');
    if (place === -1) continue;
    named(look, [place === text.length - 1 ? args[at + 1] : { text: text.slice(place + 1), dynamic }]);
  }
}

function getopts(look: CommandLook): void {
  look.add(false);
  named(look, [look.args[1]]);
}

/** Any word of it may be the name. */
function anyWord(look: CommandLook): void {
  look.add(false);
  named(
    look,
    look.args.filter(({ text, dynamic }) => !dynamic && !text.startsWith('-')),
  );
}

/** fish and zsh set variables with it, the others their own words. */
function set(look: CommandLook): void {
  look.add(false);
  const at = look.args.findIndex(({ text }) => !/^[-+]/.test(text));
  const name = look.args[at];
  if (at !== -1 && name !== undefined && !name.dynamic) named(look, [name]);
}

function declared(look: CommandLook): void {
  const { args, name, problem } = look;
  // Programs that are started later may run what stands in their environment: `CC=…`, `RUSTC_WRAPPER=…`.
  const exports = name === 'export' || args.some(({ text }) => /^-[A-Za-z]*x/.test(text));
  look.add(false, exports ? args.filter(({ text }) => text.includes('=')).map(valueOf) : []);
  assigned(args, look);
  if (args.some(({ text }) => text.split('=', 1)[0]?.includes(unknown) === true && !/^[^=]*\[/.test(text)))
    problem(
      `which variables ${name} sets is known only when it runs; name them, or read a file with "set -a; . ./file"`,
    );
  const options = args.filter(({ text }) => text.startsWith('-')).map(({ text }) => text);
  if (name === 'export' || !options.some((text) => text.includes('n'))) return;
  // A name for another variable: what is assigned to it is assigned to that one.
  for (const { text, dynamic } of args.filter((word) => !word.text.startsWith('-'))) {
    const target = /^[A-Za-z_]\w*=([A-Za-z_]\w*)$/.exec(text)?.[1];
    if (dynamic || target === undefined || kindOf(target) !== undefined)
      problem(`${text.split('=', 1)[0]} would be another name for a variable that may decide what is run`);
  }
}

const valueOf = ({ text, dynamic }: Word): Word => ({ text: text.slice(text.indexOf('=') + 1), dynamic });

export const assigning: Readonly<Record<string, (look: CommandLook) => void>> = {
  read,
  mapfile,
  readarray: mapfile,
  printf: intoVariable,
  print: intoVariable,
  wait: intoVariable,
  getopts,
  set,
  setenv: set,
  vared: anyWord,
  zparseopts: anyWord,
  strftime: anyWord,
  sysread: anyWord,
  zstyle: anyWord,
  declare: declared,
  typeset: declared,
  local: declared,
  export: declared,
  readonly: declared,
  private: declared,
  integer: declared,
  float: declared,
};
