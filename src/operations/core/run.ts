import { z } from 'zod';
import { shortCommand, visibleLines } from '../../contract/quote.ts';
import { commandDetail, typesUnseen } from '../../engine/call/audit/command-detail.ts';
import { operation } from '../../engine/call/operation.ts';
import { plainText } from '../../lib/plain-text.ts';
import { fenced } from '../../engine/reading/fence.ts';
import { fitOutput } from '../../engine/reading/fit-output.ts';
import { roomBeside } from '../../engine/reading/long-output/room.ts';
import { follow, runCommand } from '../../engine/run/run.ts';
import type { RunResult } from '../../engine/run/result.ts';
import { askFacts, Asks, askWords } from './asks.ts';
import {
  FlagsShape,
  flagWords,
  leftOut,
  MaxBytes,
  Next,
  nextSteps,
  nextWords,
  NotKeptShape,
  notKeptWords,
  readRest,
  TerminalInput,
} from './shared.ts';

const Result = z.object({
  terminal: z.string(),
  command: z.string(),
  state: z.enum(['done', 'running', 'needs_person', 'needs_input', 'incomplete', 'exited', 'starting']),
  exitCode: z.number().int().nullable(),
  signal: z.string().optional(),
  output: z.string(),
  durationMs: z.number().int(),
  cwd: z.string().optional().describe('Directory of the shell'),
  restarted: z.boolean().optional().describe('The previous shell had exited; this ran in a new one'),
  evidence: z.enum(['child', 'mark', 'marker', 'foreground', 'quiet', 'none']).describe('How the end was detected'),
  confidence: z.enum(['certain', 'high', 'medium', 'low']),
  totalLines: z.number().int(),
  totalBytes: z.number().int(),
  omittedLines: z.number().int(),
  omittedBytes: z.number().int(),
  missedBytes: z.number().int().optional(),
  notKept: NotKeptShape.optional(),
  rest: z.string().optional().describe('Pass to terminal_read for what was left out'),
  ...Asks,
  flags: FlagsShape.optional(),
  note: z.string().optional(),
  next: Next,
});
type Result = z.output<typeof Result>;

export const run = operation({
  title: 'Run a command',
  summary:
    'Run a shell command and wait for its end: exit code and output. After timeoutMs it keeps running: call again without ' +
    'command to keep waiting. needs_input: answer it with terminal_send. needs_person: tell the person; never type secrets.',
  access: 'control',
  keyed: true,
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters')
      .optional(),
    terminal: TerminalInput,
    timeoutMs: z.number().int().min(0).max(600_000).default(30_000),
    maxBytes: MaxBytes,
  }),
  output: Result,
  positional: ['command'],
  commands: ({ command }) => (command === undefined ? [] : [command]),
  notesCommands: true,
  async run({ input, engine, caller, signal, note, progress }) {
    const { command, timeoutMs } = input;
    const { terminal, restarted } =
      command === undefined
        ? { terminal: await engine.sessions.forReading(input.terminal, caller, signal), restarted: false }
        : await engine.sessions.forInput(input.terminal, caller, signal);
    if (command !== undefined) note({ detail: commandDetail(command, typesUnseen(terminal)) });
    const result =
      command === undefined
        ? await follow(terminal, { timeoutMs }, signal, progress)
        : await runCommand(terminal, { command, timeoutMs, by: caller.name }, signal, progress);
    const {
      output: _output,
      outputFrom: _from,
      outputTo: _to,
      head: _head,
      marker: _marker,
      missedBytes: _missed,
      asks,
      ...told
    } = result;
    const notes = [restarted && newShell, told.note].filter((one) => typeof one === 'string');
    const facts = {
      terminal: terminal.id,
      ...told,
      ...askFacts(asks, terminal, engine),
      command: shortCommand(visibleLines(result.command)),
      ...(told.cwd === undefined ? {} : { cwd: plainText(told.cwd, { separator: ' ' }).text }),
      ...(restarted ? { restarted } : {}),
      ...(notes.length === 0 ? {} : { note: notes.join(' ') }),
      durationMs: Math.round(told.durationMs),
    };
    const room = input.maxBytes === undefined ? roomBeside(facts) : { bytes: input.maxBytes };
    const { text, flags, ...fitted } = await fitOutput(terminal, result, { command: result.command, room }, signal);
    return {
      ...facts,
      output: text,
      ...fitted,
      ...(Object.keys(flags).length > 0 ? { flags } : {}),
      ...nextSteps(stateStep(result, terminal.id), readRest(terminal.id, fitted.rest)),
    };
  },
  render: (result) => fenced(words(result), result.output),
});

const newShell = 'The shell before was gone: this ran in a new shell, without its directory, variables and functions.';

function stateStep({ state, evidence, note }: RunResult, terminal: string): string | undefined {
  // If the command could not be typed, a note says what to do.
  if (state === 'starting' || (isAsking(state) && note !== undefined)) return undefined;
  if (isAsking(state)) return `After the answer: terminal_run terminal=${terminal} without command.`;
  // The note says what it waits for.
  if (state === 'running' && evidence !== 'none' && note !== undefined) return undefined;
  if (state === 'running') return `To keep waiting: terminal_run terminal=${terminal} without command.`;
  if (state === 'incomplete') return 'Send what was dropped again, with what it lacks.';
  return state === 'exited' ? 'To continue: terminal_open, or terminal_run without terminal.' : undefined;
}

const isAsking = (state: Result['state']): boolean => state === 'needs_person' || state === 'needs_input';

function words(result: Result): string[] {
  const seconds = `${(result.durationMs / 1000).toFixed(2)} s`;
  const code = result.exitCode === null ? 'exit code unknown' : `exit code ${result.exitCode}`;
  const sure = `(${result.evidence}, ${result.confidence})`;
  const first: Readonly<Record<Result['state'], string>> = {
    done: `${code}, ${seconds} ${sure}`,
    running: `still running after ${seconds} ${sure}`,
    needs_person: askWords(result)[0] ?? 'needs_person',
    needs_input: askWords(result)[0] ?? 'needs_input',
    incomplete: `incomplete, ${seconds} ${sure}`,
    exited: `the program of this terminal has exited, ${code}, ${seconds} ${sure}`,
    starting: `the shell is still starting after ${seconds} ${sure}`,
  };
  return [
    first[result.state],
    ...(result.cwd === undefined ? [] : [`in ${result.cwd}`]),
    `terminal ${result.terminal}${isAsking(result.state) ? `, ${seconds} ${sure}` : ''}${result.signal === undefined ? '' : `, ended by ${result.signal}`}`,
    `command: ${result.command}`,
    ...(result.note === undefined ? [] : [result.note]),
    ...(result.omittedBytes === 0 ? [] : [leftOut(result)]),
    ...notKeptWords(result.notKept),
    ...(result.missedBytes === undefined ? [] : [`the first ${result.missedBytes} bytes are no longer kept`]),
    ...flagWords(result.flags),
    ...nextWords(result.next),
  ];
}
