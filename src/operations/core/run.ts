import { z } from 'zod';
import { visibleLines } from '../../contract/quote.ts';
import { commandDetail, typesUnseen } from '../../engine/command-detail.ts';
import { operation } from '../../engine/operation.ts';
import { plainText } from '../../engine/plain-text.ts';
import { fenced } from '../../engine/reading/fence.ts';
import { fitOutput } from '../../engine/reading/fit-output.ts';
import { defaultMaxBytes } from '../../engine/reading/read.ts';
import { follow, run as runCommand } from '../../engine/run/run.ts';
import { askFacts, Asks, askWords } from './asks.ts';
import { Flags, flagWords, leftOut, MaxBytes, NotKept, notKeptWords, Terminal } from './shared.ts';

const Result = z.object({
  terminal: z.string(),
  command: z.string().optional(),
  state: z.enum(['done', 'running', 'needs_person', 'needs_input', 'incomplete', 'exited', 'starting']),
  exitCode: z.number().int().nullable(),
  signal: z.string().optional(),
  output: z.string(),
  durationMs: z.number().int(),
  cwd: z.string().optional().describe('Directory of the shell'),
  restarted: z.boolean().optional().describe('The shell before was gone; this ran in a new one'),
  evidence: z.enum(['child', 'mark', 'marker', 'foreground', 'quiet', 'none']).describe('What tells that it is over'),
  confidence: z.enum(['certain', 'high', 'medium', 'low']),
  totalLines: z.number().int(),
  totalBytes: z.number().int(),
  omittedLines: z.number().int(),
  omittedBytes: z.number().int(),
  missedBytes: z.number().int().optional(),
  notKept: NotKept.optional(),
  rest: z.string().optional().describe('Pass to terminal_read for what was left out'),
  ...Asks,
  flags: Flags.optional(),
  note: z.string().optional(),
});
type Result = z.output<typeof Result>;

export const run = operation({
  title: 'Run a command',
  summary:
    'Run a shell command and wait for its end: exit code and output. After timeoutMs it keeps running: call again without ' +
    'command to go on waiting. needs_input: answer it with terminal_send. needs_person: tell the person; never type secrets.',
  access: 'control',
  keyed: true,
  input: z.strictObject({
    command: z
      .string()
      .min(1)
      .refine((text) => text.isWellFormed(), 'contains half of a surrogate pair; send complete characters')
      .optional(),
    terminal: Terminal,
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
    const request = { command: result.command, maxBytes: input.maxBytes ?? defaultMaxBytes };
    const { text, flags, ...fitted } = await fitOutput(terminal, result, request, signal);
    const {
      output: _output,
      outputFrom: _from,
      outputTo: _to,
      head: _head,
      marker: _marker,
      missedBytes: _missed,
      asks,
      ...facts
    } = result;
    return {
      terminal: terminal.id,
      ...facts,
      ...askFacts(asks, terminal, engine),
      command: visibleLines(result.command),
      ...(facts.cwd === undefined ? {} : { cwd: plainText(facts.cwd, { separator: ' ' }).text }),
      ...(restarted ? { restarted, note: [newShell, facts.note ?? []].flat().join(' ') } : {}),
      durationMs: Math.round(facts.durationMs),
      output: text,
      ...fitted,
      ...(Object.keys(flags).length > 0 ? { flags } : {}),
    };
  },
  render: (result) => fenced(words(result), result.output),
});

const newShell = 'The shell before was gone: this ran in a new shell, without its directory, variables and functions.';

function words(result: Result): string[] {
  const seconds = `${(result.durationMs / 1000).toFixed(2)} s`;
  const code = result.exitCode === null ? 'exit code unknown' : `exit code ${result.exitCode}`;
  const first: Readonly<Record<Result['state'], string>> = {
    done: `${code}, ${seconds} (${result.evidence}, ${result.confidence})`,
    running:
      result.evidence === 'none'
        ? `still running after ${seconds}; call terminal_run without command to go on waiting`
        : `still running after ${seconds}`,
    needs_person: askWords(result)[0] ?? 'needs_person',
    needs_input: askWords(result)[0] ?? 'needs_input',
    incomplete: 'the shell wanted more text: an open quote, bracket or here-document; nothing was run',
    exited: `the program of this terminal has ended, ${code}`,
    starting: `the shell is still starting after ${seconds}; nothing was run`,
  };
  return [
    first[result.state],
    ...(result.cwd === undefined ? [] : [`in ${result.cwd}`]),
    ...(result.note === undefined ? [] : [result.note]),
    ...(result.omittedBytes === 0 ? [] : [leftOut(result)]),
    ...notKeptWords(result.notKept),
    ...(result.missedBytes === undefined ? [] : [`the first ${result.missedBytes} bytes are no longer kept`]),
    ...flagWords(result.flags),
  ];
}
