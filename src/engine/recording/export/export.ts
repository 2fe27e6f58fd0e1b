import { plainText } from '../../../lib/plain-text.ts';
import { type CastEvent, type CastReading, parseSize } from '../cast/cast-reader.ts';
import type { RecordingMetadata } from '../metadata.ts';
import { type OpenTextScreen, Sections, type TextScreen } from './sections.ts';

export type { OpenTextScreen, TextScreen } from './sections.ts';

/** What the terminal showed at the end. */
export async function exportText(cast: CastReading, open: OpenTextScreen): Promise<string> {
  const screen = open(cast.info.size);
  for await (const event of cast.events) apply(screen, event);
  return `${screen.text().trimEnd()}\n`;
}

/** One section per command where the cast has markers, else everything in one. */
export async function exportMarkdown(
  cast: CastReading,
  open: OpenTextScreen,
  metadata: Partial<RecordingMetadata> = {},
): Promise<string> {
  const whole = open(cast.info.size);
  const sections = new Sections(cast.info.size, open);
  for await (const event of cast.events) {
    apply(whole, event);
    sections.accept(event);
  }
  const all = sections.end();
  const parts = [heading(cast, metadata)];
  if (all.length === 0) parts.push(fence(whole.text()));
  // One that began before the recording has no section, one that outlived it no entry: better no code than another's.
  const told = all.some(({ exitCode }) => exitCode !== undefined);
  const known = !told && metadata.commands?.length === all.length ? metadata.commands : [];
  for (const [index, { command, text, exitCode = known[index]?.exitCode }] of all.entries()) {
    parts.push(`## ${index + 1}. ${inlineCode(command)}\n`);
    if (typeof exitCode === 'number') parts.push(`> exit: ${exitCode}\n`);
    parts.push(fence(text));
  }
  return parts.join('\n');
}

function heading({ info }: CastReading, metadata: Partial<RecordingMetadata>): string {
  const title = plainText(info.title ?? metadata.title ?? 'Terminal recording').text.replace(/\s+/g, ' ');
  const when = info.timestamp === undefined ? '' : new Date(info.timestamp * 1000).toISOString();
  const facts = [when, `${info.size.cols}x${info.size.rows}`];
  if (metadata.durationMs !== undefined) facts.push(`${(metadata.durationMs / 1000).toFixed(1)} s`);
  return `# ${title.replace(/[\\`*_[\]<>#]/g, '\\$&')}\n\n${facts.filter((fact) => fact !== '').join(' · ')}\n`;
}

function apply(screen: TextScreen, event: CastEvent): void {
  const size = event.code === 'r' ? parseSize(event.data) : undefined;
  if (size !== undefined) screen.resize(size);
  else if (event.code === 'o') screen.feed(event.data);
}

export function fence(text: string): string {
  const mark = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}text\n${text.trimEnd()}\n${mark}\n`;
}

export function inlineCode(text: string): string {
  const line = plainText(text).text.replace(/\s+/g, ' ').trim() || '(unknown command)';
  const mark = '`'.repeat(longestRun(line) + 1);
  return line.includes('`') ? `${mark} ${line} ${mark}` : `${mark}${line}${mark}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
