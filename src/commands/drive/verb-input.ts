import { type ParsedArguments, UsageError } from '../../faces/cli/args.ts';
import { type Field, fieldsOf, isAboutSession, valueOf } from '../../faces/cli/fields.ts';
import type { Verb } from '../../faces/cli/verbs.ts';

interface VerbInput {
  readonly input: Readonly<Record<string, unknown>>;
  readonly session: string | undefined;
  /** The session may as well be the first word of a command. */
  readonly guessed: boolean;
}

export const quoteIt = 'Quote a command of several words, or put -- before it.';

/** Words stand for fields by position. The session may be left out, or be named by --session. */
export function inputOf(verb: Verb, parsed: ParsedArguments): VerbInput {
  const { op } = verb;
  const fields = fieldsOf(op);
  const { flags, words, literal } = parsed;
  const places = (op.positional ?? []).filter((name) => name !== 'id');
  const takesRest = op.lastTakesRest === true;
  // What stands after -- is the command line, whatever it looks like.
  const before = words.slice(0, words.length - (takesRest ? literal : 0));
  const after = words.slice(before.length);
  const rest = [...before];
  let session = flags.get('session')?.toString();
  let guessed = false;
  if (isAboutSession(op) && session === undefined && (op.positional ?? []).includes('id')) {
    const given = after.length > 0 ? 1 : 0;
    const missing = fields.filter(({ required, name }) => required && !flags.has(name) && places.includes(name)).length;
    // A number before all that must be said, or anything before all that can be.
    const isNumber = /^\d+$/.test(rest[0] ?? '');
    // In `set-env 0 FOO` it is the value that was forgotten: a number is no name.
    const isSession = isNumber && places.length > 1 && fields.find(({ name }) => name === places[0])?.kind === 'text';
    if (isSession || rest.length + given > (isNumber ? missing : places.length)) {
      session = rest.shift();
      guessed = takesRest && !isNumber && given === 0;
    }
  }
  const values = takesRest ? joined(rest, after, places.length, parsed) : rest;
  const input: Record<string, unknown> = {};
  for (const [at, word] of values.entries()) {
    const field = fields.find(({ name }) => name === places[at]);
    if (!field) throw tooMuch(verb, word);
    input[field.name] = valueOf(field, word);
  }
  for (const [name, value] of given(fields, parsed)) input[name] = value;
  const forgotten = fields.find(({ name, required }) => required && places.includes(name) && !(name in input));
  if (forgotten) throw tooLittle(verb, forgotten);
  return { input, session, guessed };
}

/** The words that are left as one command line for the last place. */
function joined(
  rest: readonly string[],
  after: readonly string[],
  places: number,
  { words, lastFlag }: ParsedArguments,
): string[] {
  if (after.length > 0) return [...rest, after.join(' ')];
  const line = rest.slice(places - 1);
  const begin = words.length - line.length;
  if (line.length > 1 && lastFlag !== undefined && lastFlag.after > begin) {
    throw new UsageError(`Is ${lastFlag.flag} meant for fairlead or for the command? ${quoteIt}`);
  }
  return line.length === 0 ? [...rest] : [...rest.slice(0, places - 1), line.join(' ')];
}

function given(fields: readonly Field[], { flags }: ParsedArguments): [string, unknown][] {
  return fields.flatMap((field) => {
    const value = flags.get(field.name);
    return value === undefined ? [] : [[field.name, valueOf(field, value)] as [string, unknown]];
  });
}

const tooMuch = ({ noun, verb }: Verb, word: string): UsageError =>
  new UsageError(`fairlead ${noun} ${verb} takes no "${word}". See: fairlead ${noun} ${verb} --help`);

const tooLittle = ({ noun, verb }: Verb, { name, help }: Field): UsageError =>
  new UsageError(
    `The ${name.replaceAll('_', ' ')} is missing${help === '' ? '' : ` (${help})`}. See: fairlead ${noun} ${verb} --help`,
  );
