import type { Pause } from '../../../system/turns.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import { fence, inlineCode } from '../export/export.ts';
import type { LogEntry } from './entry.ts';
import { frontMatter } from './front-matter.ts';
import type { LogEvent } from './log-line.ts';
import { type LogSection, LogSections } from './sections-of-log.ts';

interface MarkdownOptions {
  /** Masks secrets; undefined: they stay. */
  readonly redactor: Redactor | undefined;
  readonly pause: Pause;
  /** The newest blocks, at most so many. */
  readonly maxBlocks?: number | undefined;
  /** Without front matter: it follows another document. */
  readonly isContinued?: boolean;
}

/** A document, and the facts that only rendering tells. */
interface LogMarkdown {
  readonly markdown: string;
  readonly facts: Pick<
    LogEntry,
    'block_count' | 'total_lines' | 'osc133_active' | 'redaction_active' | 'redaction_count'
  >;
}

const sliceChars = 64 << 10;

/** The markdown of a recording: what each command printed, as it was seen, without secrets. */
export async function logMarkdown(
  entry: LogEntry,
  events: AsyncIterable<LogEvent> | Iterable<LogEvent>,
  { redactor, pause, maxBlocks, isContinued = false }: MarkdownOptions,
): Promise<LogMarkdown> {
  const found = new LogSections(pause);
  for await (const event of events) await found.accept(event);
  const mask = new Masking(redactor, pause);
  const parts: string[] = [];
  let lines = 0;
  for (const section of await found.end()) {
    const text = await mask.long(section.text);
    lines += text === '' ? 0 : text.split('\n').length;
    parts.push(`${await heading(section, mask)}${fence(text)}`);
  }
  const project = entry.project_path === null ? null : await mask.long(entry.project_path);
  const [slug, shell, hostname, ...trace_ids] = await mask.all([
    entry.project_slug,
    entry.shell,
    entry.hostname,
    ...entry.trace_ids,
  ]);
  const facts = {
    block_count: found.blockCount,
    total_lines: lines,
    osc133_active: found.isMarked,
    redaction_active: redactor !== undefined,
    redaction_count: mask.count,
  };
  const head = frontMatter({
    unterm_session_id: entry.unterm_session_id,
    tab_id: entry.tab_id,
    project_path: project,
    project_slug: slug ?? '',
    shell: shell ?? '',
    hostname: hostname ?? '',
    fairlead_version: entry.version,
    started_at: entry.started_at,
    ended_at: entry.ended_at,
    exit_reason: entry.exit_reason,
    osc133_active: facts.osc133_active,
    block_count: facts.block_count,
    total_lines: facts.total_lines,
    bytes_raw: entry.bytes_raw,
    trace_ids,
    redaction_active: facts.redaction_active,
    redaction_count: facts.redaction_count,
    parent_session_id: entry.parent_session_id,
  });
  const title = `# Session ${entry.tab_id}${isContinued ? ', continued' : ''} · ${timeOf(entry.started_at)}\n`;
  const notice = found.isMarked ? [] : ['The shell did not mark its commands, so the output is in one piece.\n'];
  const body = [...notice, ...newest(parts, maxBlocks)];
  return { markdown: [...(isContinued ? [] : [head]), title, ...body].join('\n'), facts };
}

function newest(parts: readonly string[], most = parts.length): string[] {
  const left = parts.length - most;
  return left <= 0 ? [...parts] : [`Earlier sections are left out: ${left}.\n`, ...parts.slice(left)];
}

async function heading({ block }: LogSection, mask: Masking): Promise<string> {
  if (!block) return '';
  const command = await mask.long(block.command ?? '');
  const { number, exitCode = '?', startMicros, endMicros } = block;
  const took = endMicros === undefined ? '?' : `${Math.max(0, (endMicros - startMicros) / 1e6).toFixed(2)}s`;
  const at = new Date(startMicros / 1000).toISOString().slice(11, 19);
  return `## Block ${number} — ${inlineCode(command)}\n\n> exit: ${exitCode} · ${took} · ${at}\n\n`;
}

const timeOf = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

/** Masks in slices, so that a long text does not hold up everything else. */
class Masking {
  count = 0;
  readonly #redactor: Redactor | undefined;
  readonly #pause: Pause;

  constructor(redactor: Redactor | undefined, pause: Pause) {
    this.#redactor = redactor;
    this.#pause = pause;
  }

  async all(texts: readonly string[]): Promise<string[]> {
    const masked: string[] = [];
    for (const text of texts) masked.push(await this.long(text));
    return masked;
  }

  async long(text: string): Promise<string> {
    if (this.#redactor === undefined || text === '') return text;
    const stream = this.#redactor.stream();
    const pieces: string[] = [];
    for (let at = 0; at < text.length; at += sliceChars) {
      for (const piece of stream.push(text.slice(at, at + sliceChars), undefined)) pieces.push(piece.text);
      await this.#pause();
    }
    for (const piece of stream.end()) pieces.push(piece.text);
    this.count += stream.count;
    return pieces.join('');
  }
}
