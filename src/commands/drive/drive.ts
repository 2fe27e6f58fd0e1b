import { isAbsolute, resolve } from 'node:path';
import { FairleadError } from '../../contract/errors.ts';
import { isOn, parseArgs, shapeOf, UsageError } from '../../faces/cli/args.ts';
import { cleanAnswer, toJson } from '../../faces/cli/clean.ts';
import { fieldsOf, isAboutSession } from '../../faces/cli/fields.ts';
import { show } from '../../faces/cli/show.ts';
import { columns, styleFor, type Style } from '../../faces/cli/style.ts';
import { placesOf, usageOf, type Verb } from '../../faces/cli/verbs.ts';
import { RpcClient } from '../../faces/jsonrpc/client.ts';
import { cliClient } from '../../faces/jsonrpc/wire.ts';
import { closest } from '../../lib/closest.ts';
import type { Surroundings } from '../command.ts';
import { findInstance } from '../find-instance.ts';
import { personal, verbs } from './verbs.ts';
import { inputOf, quoteIt } from './verb-input.ts';
import { optionsOf, whereOf } from './verb-options.ts';
import { performForPerson } from './for-person.ts';
import { numbered, onlySession, sessionCalled } from './which-session.ts';

/** Nouns of the command line that drive a running instance. */
export const nouns = (): string[] => [...verbs.keys()];
export const isNoun = (name: string): boolean => verbs.has(name);

const connectMs = 5000;

/** `fairlead <noun> <verb> …`: calls a method of a running instance and shows the answer. Resolves with the exit code. */
export async function drive(noun: string, argv: readonly string[], around: Surroundings): Promise<number> {
  const { stdout, env } = around;
  const style = styleFor(stdout, env);
  const known = verbs.get(noun) ?? new Map<string, Verb>();
  if (argv[0] === '--help' || argv[0] === '-h') {
    stdout.write(nounHelp(noun, known, style));
    return 0;
  }
  const isBare = argv[0] === undefined || argv[0].startsWith('-');
  const [name = '', ...rest] = isBare
    ? [[...known.values()].find(({ op }) => op.cliDefault)?.verb ?? '', ...argv]
    : joinVerb(argv, known);
  const verb = known.get(name);
  if (!verb) {
    if (argv.length > 0) throw new UsageError(noSuchVerb(noun, name, [...known.keys()]));
    stdout.write(nounHelp(noun, known, style));
    return 2;
  }
  if (wantsHelp(rest, verb.op.lastTakesRest === true)) {
    stdout.write(verbHelp(verb, style));
    return 0;
  }
  return await (personal.has(noun) ? performForPerson(verb, rest, around) : perform(verb, rest, around, style));
}

/** The verb in one piece, where it has two words. */
function joinVerb([first = '', second = '', ...rest]: readonly string[], known: ReadonlyMap<string, Verb>): string[] {
  const both = `${first} ${second}`;
  const isPart = [...known.keys()].some((verb) => verb.startsWith(`${first} `));
  if (known.has(both) || (isPart && second !== '' && !second.startsWith('-'))) return [both, ...rest];
  return second === '' && rest.length === 0 ? [first] : [first, second, ...rest];
}

function noSuchVerb(noun: string, name: string, known: readonly string[]): string {
  if (name === '') return `Say what to do: ${known.join(', ')}. See: fairlead ${noun} --help`;
  return `There is no ${noun} ${name}.${suggestion(name, known)} See: fairlead ${noun} --help`;
}

const options = (argv: readonly string[]): readonly string[] =>
  argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;

/** `df -h` asks for something else. */
const wantsHelp = (argv: readonly string[], isCommandLine: boolean): boolean =>
  options(argv).includes('--help') || (isCommandLine ? argv[0] === '-h' : options(argv).includes('-h'));

async function perform(verb: Verb, argv: readonly string[], around: Surroundings, style: Style): Promise<number> {
  const { op, method } = verb;
  const about = isAboutSession(op);
  const parsed = parseArgs(argv, optionsOf(op), op.lastTakesRest ? { advice: quoteIt } : undefined);
  const { home, instance: named } = whereOf(parsed, around.env);
  const instance = findInstance(home, named);
  const own = around.env['FAIRLEAD_SESSION'];
  const greeting = { token: instance.auth_token, client: cliClient, session: own };
  using rpc = await RpcClient.connect(instance.mcp_port, greeting, AbortSignal.timeout(connectMs));
  const { input, session, guessed } = inputOf(verb, parsed);
  const looks = op.access === 'observe';
  const isNone = !about || (session === undefined && op.sessionOptional === true);
  const id = isNone
    ? {}
    : { id: session === undefined ? await onlySession(rpc, own, looks) : await called(session, guessed, rpc) };
  const fields = await numbered(input, fieldsOf(op), rpc);
  const answer = await rpc.call(method, { ...id, ...fields, ...fromHere(fields, around.cwd) });
  if (isOn(parsed.flags, 'json')) around.stdout.write(toJson(answer));
  else {
    const shown = cleanAnswer(answer);
    const words = op.show ? op.show(shown) : show(shown, style);
    if (words !== '') around.stdout.write(words.endsWith('\n') ? words : `${words}\n`);
  }
  return op.exitCode?.(answer) ?? op.passthrough?.(answer, isOn(parsed.flags, 'passthrough')) ?? 0;
}

/** The server works elsewhere: a path is meant from where the command was given. */
const fromHere = ({ path }: Readonly<Record<string, unknown>>, cwd: () => string): object =>
  typeof path === 'string' && !isAbsolute(path) ? { path: resolve(cwd(), path) } : {};

/** A word that is no session may begin an unquoted command. */
async function called(word: string, guessed: boolean, rpc: RpcClient): Promise<string | number> {
  try {
    return await sessionCalled(word, rpc);
  } catch (thrown) {
    const isMissing = thrown instanceof FairleadError && thrown.code === 'terminal_not_found';
    if (!guessed || !isMissing) throw thrown;
    throw new UsageError(`${thrown.message} ${thrown.hint ?? ''} ${quoteIt}`);
  }
}

function nounHelp(noun: string, known: ReadonlyMap<string, Verb>, { bold, dim }: Style): string {
  const rows = [...known.values()].map(({ verb, op }) => [`${verb} ${placesOf(op)}`.trimEnd(), op.summary] as const);
  return `${bold(`fairlead ${noun}`)} <verb>: on a running instance (fairlead serve)\n\n${columns(rows)}\n\n${dim(`fairlead ${noun} <verb> --help tells more. --json answers as JSON.`)}\n`;
}

function verbHelp(asked: Verb, { bold }: Style): string {
  const { noun, verb, op } = asked;
  const rows = optionsOf(op).map((option) => [shapeOf(option), option.help] as const);
  return `${bold(`fairlead ${noun} ${verb}`)}: ${op.summary}\n\n${bold('Usage')}\n  ${usageOf(asked)}\n\n${bold('Options')}\n${columns(rows)}\n`;
}

const suggestion = (word: string, known: readonly string[]): string => {
  const [near] = closest(word, known);
  return near === undefined ? '' : ` Did you mean ${near}?`;
};
