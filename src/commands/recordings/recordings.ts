import { createWriteStream } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { places } from '../../config.ts';
import { FairleadError } from '../../contract/errors.ts';
import { readHeader } from '../../engine/recording/cast/cast-reader.ts';
import { removeRecording } from '../../engine/recording/library.ts';
import { indexEntry } from '../../engine/recording/log/entry.ts';
import type { ReplayEntry } from '../../engine/recording/replay/entries.ts';
import { recoverRecordings } from '../../engine/recording/recover.ts';
import { bytesText } from '../../lib/byte-count.ts';
import { plainText } from '../../lib/plain-text.ts';
import { UsageError } from '../../faces/cli/args.ts';
import { toJson } from '../../faces/cli/clean.ts';
import { styleFor } from '../../faces/cli/style.ts';
import type { Invocation } from '../command.ts';
import { exportCast, type ExportOptions, formats } from '../../engine/recording/export/export-cast.ts';
import { allRecordings, findEither, logLibrary, openRecording } from './find.ts';
import { positive } from './positive.ts';

type Verb = (invocation: Invocation, directory: string, words: readonly string[]) => Promise<number>;

const verbs: Readonly<Record<string, Verb>> = { list, show, rm: remove, recover, export: exportOne };

export async function recordings(invocation: Invocation): Promise<number> {
  const [word = 'list', ...rest] = invocation.words;
  const verb = verbs[word];
  if (!verb) throw new UsageError(`There is no "recordings ${word}". Choose from ${Object.keys(verbs).join(', ')}.`);
  return verb(invocation, places(invocation.settings, invocation.env).recordings, rest);
}

async function list(invocation: Invocation, directory: string): Promise<number> {
  const { stdout, env } = invocation;
  const entries = await allRecordings(invocation);
  if (wantsJson(invocation)) return printJson(invocation, entries.map(facts));
  if (entries.length === 0) {
    stdout.write(`No recordings in ${directory}, and no logs of sessions.\n`);
    return 0;
  }
  const { bold, dim, green, red } = styleFor(stdout, env);
  const width = Math.max(16, ...entries.map(({ id }) => oneLine(id).length));
  stdout.write(`${bold(`${'ID'.padEnd(width)}  Kind  Started             Length       Size  State       Title`)}\n`);
  for (const entry of entries) {
    const { id, kind, startTime, playMs, bytes, title } = entry;
    const state = entry.state === 'finished' ? (entry.failed ? 'failed' : 'ok') : entry.state;
    const paint = state === 'failed' ? red : state === 'ok' ? green : String;
    const row = [
      oneLine(id).padEnd(width),
      kind.padEnd(4),
      when(startTime),
      (playMs === undefined ? '' : lengthText(playMs)).padStart(8),
      bytesText(bytes).padStart(9),
      title === undefined ? paint(state) : paint(state.padEnd(10)),
    ];
    stdout.write(`${row.join('  ')}${title === undefined ? '' : `  ${dim(oneLine(title))}`}\n`);
  }
  return 0;
}

async function show(invocation: Invocation, _directory: string, words: readonly string[]): Promise<number> {
  const entry = await findEither(invocation, one(words, 'show'));
  const cast = entry.cast && (await readHeader(entry.cast.path));
  if (wantsJson(invocation)) return printJson(invocation, { ...facts(entry), ...(cast && { cast }) });
  const { bold } = styleFor(invocation.stdout, invocation.env);
  const { commands = [], recordingId: _id, ...metadata } = entry.cast?.metadata ?? {};
  const rows: Record<string, unknown> = {
    id: entry.id,
    kind: entry.kind === 'cast' ? 'asciicast' : 'raw log of a session',
    path: entry.path,
    state: entry.state,
    ...(cast && { size: `${cast.size.cols}x${cast.size.rows}` }),
    ...(entry.log ? logFacts(entry.log) : metadata),
  };
  for (const [key, value] of Object.entries(rows)) {
    // What a running recording will need to go on is no news to a person.
    if (value === null || value === undefined || typeof value === 'object') continue;
    invocation.stdout.write(`${bold(oneLine(key).padEnd(16))} ${oneLine(readable(key, value))}\n`);
  }
  for (const { command, exitCode } of commands) {
    invocation.stdout.write(
      `  ${exitCode === 0 ? '✓' : `✗ ${exitCode ?? '?'}`}  ${oneLine(command ?? '(unknown command)')}\n`,
    );
  }
  return 0;
}

async function remove(invocation: Invocation, directory: string, words: readonly string[]): Promise<number> {
  if (words.length === 0) throw new UsageError('Say which recording to remove.');
  const removed: string[] = [];
  for (const word of words) {
    const entry = await findEither(invocation, word);
    if (entry.kind === 'cast') await removeRecording(directory, word);
    else await removeLog(invocation, entry);
    removed.push(entry.id);
  }
  if (wantsJson(invocation)) return printJson(invocation, { removed });
  invocation.stdout.write(`Removed ${removed.join(', ')}.\n`);
  return 0;
}

async function removeLog(invocation: Invocation, { id, state }: ReplayEntry): Promise<void> {
  if (state === 'recording') {
    throw new FairleadError('conflict', `${id} is being recorded.`, {
      hint: 'Stop the recording first: fairlead session record stop.',
    });
  }
  await logLibrary(invocation).remove(id);
}

async function recover(invocation: Invocation, directory: string): Promise<number> {
  const recovered = await recoverRecordings(directory, { force: invocation.flags.get('force') === 'true' });
  if (wantsJson(invocation)) return printJson(invocation, { recovered });
  if (recovered.length === 0) invocation.stdout.write('Nothing to recover.\n');
  for (const { id, path, skipped } of recovered) {
    invocation.stdout.write(
      `${oneLine(skipped ? `Left alone ${id}: ${skipped}` : `Recovered ${path || `${id}: it was empty`}`)}\n`,
    );
  }
  return 0;
}

async function exportOne(invocation: Invocation, _directory: string, words: readonly string[]): Promise<number> {
  const { flags, stdout, stderr } = invocation;
  const format = String(flags.get('format') ?? 'gif');
  if (!formats.includes(format)) throw new UsageError(`--format: "${format}" must be one of ${formats.join(', ')}.`);
  const speed = positive(flags.get('speed') ?? '1', '--speed');
  const entry = await findEither(invocation, one(words, 'export'));
  const target = String(flags.get('output') ?? `${exportName(entry)}.${format}`);
  if (entry.path !== undefined && resolve(target) === resolve(entry.path))
    throw new UsageError('Say --output: the recording itself has that name.');
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  const pieces = exported(invocation, entry, format, {
    metadata: entry.cast?.metadata ?? {},
    theme: flags.get('theme') as string | undefined,
    speed,
    progress: stderr.isTTY ? (frames) => stderr.write(`\r${frames} frames`) : () => {},
    signal: ending.signal,
  });
  if (target === '-') {
    for await (const piece of pieces) stdout.write(piece);
    return 0;
  }
  await pipeline(pieces, createWriteStream(target, { mode: 0o600 }), { signal: ending.signal });
  if (stderr.isTTY) stderr.write('\r\x1b[K');
  stdout.write(wantsJson(invocation) ? `${JSON.stringify({ path: target, format })}\n` : `Wrote ${target}\n`);
  return 0;
}

async function* exported(
  invocation: Invocation,
  entry: ReplayEntry,
  format: string,
  options: ExportOptions,
): AsyncGenerator<Uint8Array> {
  if (entry.log && format === 'md') {
    yield Buffer.from(await logLibrary(invocation).documents.read(entry.log, {}, options.signal));
  } else yield* exportCast(await openRecording(invocation, entry), format, options);
}

/** Beside a cast. A log lies in a hidden folder of its project, so what is made of it goes to where the person is. */
const exportName = ({ kind, path = '', log }: ReplayEntry): string =>
  kind === 'cast'
    ? path.replace(/(?:\.cast(?:\.part)?|\.[^./]*)$/, '')
    : basename(path || (log?.md_path ?? '')).replace(/\.[^./]*$/, '');

function one(words: readonly string[], verb: string): string {
  const [word, extra] = words;
  if (word === undefined)
    throw new UsageError(`Say which recording to ${verb}: an id, the beginning of one, or a path.`);
  if (extra !== undefined) throw new UsageError(`One recording at a time; "${extra}" is too much.`);
  return word;
}

/** Titles, commands and file names are untrusted: none of them may control this terminal. */
const oneLine = (text: string): string => plainText(text, { separator: ' ' }).text.replace(/\s+/g, ' ');

const wantsJson = ({ flags }: Invocation): boolean => flags.get('json') === 'true';

function printJson({ stdout }: Invocation, value: unknown): number {
  stdout.write(toJson(value));
  return 0;
}

function facts({ cast, log, ...entry }: ReplayEntry): object {
  const { writer, modified, metadata } = cast ?? {};
  return { ...entry, ...(cast && { writer, modified, metadata }), ...(log && { log: indexEntry(log) }) };
}

function logFacts(log: NonNullable<ReplayEntry['log']>): Record<string, unknown> {
  return {
    terminal: log.terminal,
    shell: log.shell,
    project: log.project_path,
    started: log.started_at,
    ended: log.ended_at,
    reason: log.exit_reason,
    commands: log.block_count,
    lines: log.total_lines,
    output: bytesText(log.bytes_raw),
    masked: log.redaction_count,
    markdown: log.md_path,
    continues: log.parent_session_id,
  };
}

const when = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

function lengthText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  const rest = `${String(Math.floor((ms % 60_000) / 1000)).padStart(2, '0')} s`;
  return minutes < 60
    ? `${minutes} m ${rest}`
    : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} m`;
}

function readable(key: string, value: unknown): string {
  if (key === 'startTime' || key === 'endTime') return new Date(Number(value)).toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
