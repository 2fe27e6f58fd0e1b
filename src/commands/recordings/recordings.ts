import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { places } from '../../config.ts';
import { readCast } from '../../engine/recording/cast/cast-reader.ts';
import {
  findRecording,
  type LibraryEntry,
  listRecordings,
  removeRecording,
  showRecording,
} from '../../engine/recording/library.ts';
import { recoverRecordings } from '../../engine/recording/recover.ts';
import { plainText } from '../../lib/plain-text.ts';
import { UsageError } from '../../faces/cli/args.ts';
import { toJson } from '../../faces/cli/clean.ts';
import { styleFor } from '../../faces/cli/style.ts';
import type { Invocation } from '../command.ts';
import { exportCast, formats } from './export-cast.ts';
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
  const entries = await listRecordings(directory);
  if (wantsJson(invocation)) return printJson(invocation, entries.map(facts));
  if (entries.length === 0) {
    stdout.write(`No recordings in ${directory}.\n`);
    return 0;
  }
  const { bold, dim, green, red } = styleFor(stdout, env);
  stdout.write(`${bold('ID                Started           Length      Size  State')}\n`);
  for (const entry of entries) {
    const { durationMs, failed, title } = entry.metadata;
    const state = entry.state === 'finished' ? (failed ? red('failed') : green('ok')) : entry.state;
    const length = durationMs === undefined ? '' : `${(durationMs / 1000).toFixed(1)} s`;
    const row = [
      oneLine(entry.id).padEnd(17),
      when(entry.startTime).padEnd(17),
      length.padStart(7),
      size(entry.bytes).padStart(9),
    ];
    stdout.write(`${row.join(' ')}  ${state}${title ? `  ${dim(oneLine(title))}` : ''}\n`);
  }
  return 0;
}

async function show(invocation: Invocation, directory: string, words: readonly string[]): Promise<number> {
  const { cast, ...entry } = await showRecording(directory, one(words, 'show'));
  if (wantsJson(invocation)) return printJson(invocation, { ...facts(entry), cast });
  const { bold } = styleFor(invocation.stdout, invocation.env);
  const rows: Record<string, unknown> = {
    id: entry.id,
    path: entry.path,
    state: entry.state,
    size: `${cast.size.cols}x${cast.size.rows}`,
  };
  for (const [key, value] of Object.entries(entry.metadata))
    if (key !== 'commands' && key !== 'recordingId') rows[key] = value;
  for (const [key, value] of Object.entries(rows)) {
    if (value !== null && value !== undefined)
      invocation.stdout.write(`${bold(oneLine(key).padEnd(16))} ${oneLine(readable(key, value))}\n`);
  }
  for (const { command, exitCode } of entry.metadata.commands ?? []) {
    invocation.stdout.write(
      `  ${exitCode === 0 ? '✓' : `✗ ${exitCode ?? '?'}`}  ${oneLine(command ?? '(unknown command)')}\n`,
    );
  }
  return 0;
}

async function remove(invocation: Invocation, directory: string, words: readonly string[]): Promise<number> {
  if (words.length === 0) throw new UsageError('Say which recording to remove.');
  const removed: string[] = [];
  for (const word of words) removed.push((await removeRecording(directory, word)).id);
  if (wantsJson(invocation)) return printJson(invocation, { removed });
  invocation.stdout.write(`Removed ${removed.join(', ')}.\n`);
  return 0;
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

async function exportOne(invocation: Invocation, directory: string, words: readonly string[]): Promise<number> {
  const { flags, stdout, stderr } = invocation;
  const format = String(flags.get('format') ?? 'gif');
  if (!formats.includes(format)) throw new UsageError(`--format: "${format}" must be one of ${formats.join(', ')}.`);
  const speed = positive(flags.get('speed') ?? '1', '--speed');
  const entry = await findRecording(directory, one(words, 'export'));
  const target = String(
    flags.get('output') ?? `${entry.path.replace(/(?:\.cast(?:\.part)?|\.[^./]*)$/, '')}.${format}`,
  );
  if (resolve(target) === resolve(entry.path))
    throw new UsageError('Say --output: the recording itself has that name.');
  const cast = await readCast(entry.path, { lenient: true });
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  const pieces = exportCast(cast, format, {
    metadata: entry.metadata,
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

function facts({ files: _files, ...entry }: LibraryEntry): Omit<LibraryEntry, 'files'> {
  return entry;
}

const when = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');

function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1 << 20 ? `${(bytes / 1024).toFixed(1)} KB` : `${(bytes / (1 << 20)).toFixed(1)} MB`;
}

function readable(key: string, value: unknown): string {
  if (key === 'startTime' || key === 'endTime') return new Date(Number(value)).toISOString();
  return typeof value === 'string' ? value : JSON.stringify(value);
}
