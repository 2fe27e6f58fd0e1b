import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, sep } from 'node:path';
import { FairleadError } from '../../../contract/errors.ts';
import { quote } from '../../../contract/quote.ts';
import { pauses } from '../../../system/turns.ts';
import { terminalSource } from '../terminal-source.ts';
import type { LogEntry } from './entry.ts';
import type { LogLibrary } from './log-library.ts';
import { logProject, openLog, type WantedPlace } from './log-place.ts';
import { newEntry } from './new-entry.ts';
import { pastEvents } from './past-events.ts';
import type { Loggable } from './session-logs.ts';

export interface ExportRequest {
  /** Where to; beside the recordings of the session if left out. */
  readonly path?: string | undefined;
  readonly maxBlocks?: number | undefined;
}

export interface ExportedMarkdown {
  readonly entry: LogEntry;
  readonly markdown: string;
}

/** Renders what a terminal still has of its output. It stands in the index like a recording. */
export async function exportLog(
  library: Pick<LogLibrary, 'index' | 'documents'>,
  terminal: Loggable,
  { path, maxBlocks }: ExportRequest,
  { wanted, version }: { readonly wanted: WantedPlace; readonly version: string },
  signal: AbortSignal,
): Promise<ExportedMarkdown> {
  const { createdAt } = terminal.identity;
  if (path !== undefined) checkTarget(path, wanted.root);
  const { md, project, slug } = path === undefined ? await newFile(wanted) : { md: path, ...logProject(wanted) };
  const source = terminalSource(terminal);
  const events = pastEvents(source, createdAt);
  const entry: LogEntry = {
    ...newEntry(terminal, { project, slug }, { version, time: wanted.time }),
    started_at: new Date(createdAt).toISOString(),
    ended_at: new Date(wanted.time).toISOString(),
    exit_reason: 'user_export',
    bytes_raw: events.reduce((sum, { name, data }) => sum + (name === 'out' ? data.length : 0), 0),
    log_path: null,
    md_path: md,
    from_offset: 0,
    to_offset: source.end,
    ...(path !== undefined && { is_exported: true as const }),
  };
  const written = await library.documents.write(entry, events, pauses(signal), maxBlocks);
  await library.index.close(written.entry);
  await library.index.refresh();
  return written;
}

/** Reserves a name, so that two exports of one second get two files. */
async function newFile(wanted: WantedPlace): Promise<{ md: string; project: string | null; slug: string }> {
  const { file, ...place } = await openLog(wanted, { extension: 'md' });
  await file.close();
  return place;
}

/** A caller chooses the file: it must not be able to overwrite something else, or our own state. */
function checkTarget(path: string, root: string): void {
  const refuse = (why: string, hint: string): never => {
    throw new FairleadError('invalid_input', `Cannot export to ${quote(path)}: ${why}`, { hint });
  };
  if (!isAbsolute(path)) refuse('the path is not absolute', 'Give the whole path, such as /home/me/session.md.');
  if (path.includes('\0')) refuse('no file name has a NUL character', 'Leave it out.');
  const folder = realFolder(dirname(path));
  if (folder === undefined) return refuse('its directory does not exist', 'Create it first, or choose another.');
  const state = realFolder(root);
  if (state !== undefined && `${folder}${sep}`.startsWith(`${state}${sep}`)) {
    refuse("it is inside the server's own state", 'Choose another directory, or leave path out.');
  }
  const found = lstatSync(join(folder, basename(path)), { throwIfNoEntry: false });
  const isMarkdown = /\.(?:md|markdown)$/i.test(path);
  if (found && (!found.isFile() || !isMarkdown)) {
    refuse('it exists and is no markdown file', 'Choose a name that is free, or one that ends in .md.');
  }
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return lstatSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
