import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { shortCommand } from '../../contract/quote.ts';
import type { Caller } from '../../engine/call/call.ts';
import type { Engine } from '../../engine/engine.ts';
import { operation } from '../../engine/call/operation.ts';
import { PlainFacts } from '../../engine/reading/plain-facts.ts';
import { recordingOf } from '../../engine/recording/recording-of.ts';
import { launchLines } from '../../policy/lines.ts';
import { answerBytes } from '../../engine/reading/long-output/room.ts';
import type { Terminal as EngineTerminal } from '../../engine/terminal/terminal.ts';
import { aboutLaunch } from '../launch.ts';
import { EnvironmentInput } from '../environment.ts';
import { askFacts, Asks, askWords } from './asks.ts';
import { FlagsShape, flagWords, Next, TerminalId } from './shared.ts';
import { Unfinished, unfinishedFacts, unfinishedIn } from './unfinished.ts';

const Info = z.object({
  terminal: z.string(),
  target: z.string(),
  name: z.string().optional(),
  program: z.string(),
  state: z.enum(['starting', 'idle', 'running', 'needs_person', 'needs_input', 'exited', 'lost']),
  foreground: z.string().optional().describe('Program in the foreground'),
  command: z.string().optional().describe('Running command'),
  unfinished: Unfinished.optional(),
  exitCode: z.number().int().nullable().optional(),
  cwd: z.string().optional(),
  cols: z.number().int(),
  rows: z.number().int(),
  pid: z.number().int().optional(),
  isDefault: z.boolean(),
  idleSeconds: z.number().int(),
  recordingId: z.string().optional(),
  ...Asks,
  flags: FlagsShape.optional(),
});
type Info = z.output<typeof Info>;

export const open = operation({
  title: 'Open a terminal',
  summary:
    'Open another terminal for a parallel job. Pass its id as terminal; calls without one use the default terminal.',
  access: 'open',
  keyed: true,
  input: z.strictObject({
    target: z.string().min(1).max(256).default('local').describe('See targets'),
    argv: z.array(z.string().max(65_536)).min(1).max(1000).optional().describe('Run this program instead of a shell'),
    shell: z.string().min(1).max(4096).optional().describe('bash, zsh, fish, a path'),
    cwd: z.string().min(1).max(4096).optional(),
    env: EnvironmentInput.describe('Added to the environment'),
    cols: z.number().int().min(2).max(1000).optional(),
    rows: z.number().int().min(1).max(1000).optional(),
    name: z.string().trim().min(1).max(64).optional(),
    options: z.record(z.string(), z.unknown()).optional().describe('Settings only this kind of target has'),
  }),
  output: Info.extend({ notes: z.array(z.string()).optional() }),
  commands: launchLines,
  about: aboutLaunch,
  async run({ input, engine, caller, signal, note, ask }) {
    const { target, argv, ...rest } = input;
    if (argv && rest.shell !== undefined) {
      throw new FairleadError('invalid_input', 'argv: give either argv or shell, not both');
    }
    const [program, ...args] = argv ?? [];
    const terminal = await engine.sessions.create(
      { ...rest, target, ask, ...(program === undefined ? {} : { argv: [program, ...args] as const }) },
      caller,
      signal,
    );
    note({ detail: aboutLaunch(input).detail || terminal.identity.program, terminal: terminal.id });
    const { notes } = terminal.identity;
    return { ...describe(terminal, engine, caller), ...(notes.length > 0 && { notes: [...notes] }) };
  },
  render: ({ notes = [], ...info }) => [`Opened ${line(info)}`, ...notes.map((note) => `Note: ${note}`)].join('\n'),
});

export const list = operation({
  title: 'List terminals',
  summary: 'List the open terminals with their state.',
  http: [{ method: 'GET', path: '/api/terminals' }],
  access: 'observe',
  input: z.strictObject({
    from: z.number().int().min(0).default(0).describe('From an earlier answer: continue there'),
  }),
  output: z.object({
    terminals: z.array(Info),
    total: z.number().int(),
    from: z.number().int().optional().describe('Pass as from for the rest of the list'),
    next: Next,
  }),
  async run({ input, engine, caller }) {
    const all = engine.sessions.all(caller).map((terminal) => describe(terminal, engine, caller));
    const terminals = listPage(all, input.from);
    const from = input.from + terminals.length;
    const more = from < all.length;
    return {
      terminals,
      total: all.length,
      ...(more ? { from, next: `The others: terminal_list from=${from}` } : {}),
    };
  },
  render({ terminals, total, next }) {
    if (total === 0) return 'No terminal is open.';
    return [
      ...terminals.map(line),
      ...(next === undefined ? [] : [`${terminals.length} of ${total}`, `next: ${next}`]),
    ].join('\n');
  },
});

export const close = operation({
  title: 'Close a terminal',
  summary: 'Close a terminal and end everything in it.',
  access: 'control',
  destructive: true,
  input: z.strictObject({ terminal: TerminalId }),
  output: z.object({ terminal: z.string(), closed: z.literal(true) }),
  positional: ['terminal'],
  run: async ({ input, engine, caller, signal }) => ({
    terminal: await engine.sessions.close(input.terminal, caller, signal),
    closed: true as const,
  }),
  render: ({ terminal }) => `Closed ${terminal}.`,
});

function describe(terminal: EngineTerminal, engine: Engine, caller: Caller): Info {
  const { ended, process } = terminal;
  const { name } = terminal.identity;
  const { cwd } = terminal.place;
  const foreground = ended ? undefined : process?.foreground()?.name;
  const command = terminal.blocks.current?.command;
  const recordingId = recordingOf(terminal.id, engine);
  // Programs choose their directory and title: both may hold characters that deceive.
  const plain = new PlainFacts();
  return {
    terminal: terminal.id,
    target: plain.line(terminal.identity.target),
    ...(name === undefined ? {} : { name: plain.line(name) }),
    program: plain.line(terminal.identity.program),
    state: terminal.state.current,
    ...(foreground === undefined ? {} : { foreground: plain.line(foreground) }),
    ...(command === undefined ? {} : { command: shortCommand(plain.text(command)) }),
    ...unfinishedIn(terminal),
    ...(ended ? { exitCode: ended.by === 'exit' ? ended.code : null } : {}),
    ...(cwd === undefined ? {} : { cwd: plain.line(cwd) }),
    ...terminal.screen.size,
    ...(process === undefined ? {} : { pid: process.pid }),
    isDefault: engine.sessions.isDefault(terminal, caller),
    idleSeconds: Math.max(0, Math.round((engine.clock.now() - terminal.usage.lastAt) / 1000)),
    ...(recordingId === undefined ? {} : { recordingId }),
    ...askFacts(terminal.person.prompts.current, terminal, engine),
    ...plain.flags,
  };
}

function line(info: Info): string {
  const facts = [
    info.terminal,
    info.state,
    ...(info.exitCode === undefined ? [] : [`exit ${info.exitCode ?? '?'}`]),
    info.name === undefined ? info.program : `${info.name} (${info.program})`,
    ...(info.foreground === undefined || info.program.endsWith(info.foreground) ? [] : [`running ${info.foreground}`]),
    ...(info.command === undefined ? [] : [`command ${JSON.stringify(info.command)}`]),
    `on ${info.target}`,
    `${info.cols}x${info.rows}`,
    ...(info.cwd === undefined ? [] : [info.cwd]),
    ...(info.pid === undefined ? [] : [`pid ${info.pid}`]),
    `idle ${info.idleSeconds} s`,
    ...(info.recordingId === undefined ? [] : [`recorded as ${info.recordingId}`]),
    ...(info.isDefault ? ['default'] : []),
    ...askWords(info),
    ...unfinishedFacts(info.unfinished),
    ...flagWords(info.flags),
  ];
  return facts.join('  ');
}

/** As many terminals as fit into the answer, beginning with number `from`, but at least one. */
function listPage(all: readonly Info[], from: number): Info[] {
  const shown: Info[] = [];
  let bytes = listFactsBytes;
  for (const info of all.slice(from)) {
    bytes += Buffer.byteLength(JSON.stringify(info)) + Buffer.byteLength(line(info)) + 2;
    if (shown.length > 0 && bytes > answerBytes) break;
    shown.push(info);
  }
  return shown;
}

const listFactsBytes = 300;
