import type { Size } from '../channel.ts';
import { type CastEvent, type CastReading, parseSize } from './cast-reader.ts';
import type { RecordingMetadata } from './metadata.ts';

/** A terminal of the given size that turns output into the text a person sees, history included. */
export interface TextScreen {
  feed(text: string): void;
  resize(size: Size): void;
  text(): string;
}
export type OpenTextScreen = (size: Size) => TextScreen;

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
  const { info } = cast;
  let size = info.size;
  const whole = open(size);
  const sections: { readonly command: string; readonly screen: TextScreen; done: boolean }[] = [];
  for await (const event of cast.events) {
    apply(whole, event);
    size = (event.code === 'r' ? parseSize(event.data) : undefined) ?? size;
    if (event.code === 'm') sections.push({ command: event.data, screen: open(size), done: false });
    const section = sections.at(-1);
    if (section === undefined || section.done || event.code === 'm') continue;
    // The shell says where a command's output ends; after that come the prompt and the next line typed.
    const end = event.code === 'o' ? event.data.search(/\x1b\](?:133|633);[DA]/) : -1;
    apply(section.screen, end < 0 ? event : { ...event, data: event.data.slice(0, end) });
    section.done = end >= 0;
  }
  const parts = [heading(cast, metadata)];
  if (sections.length === 0) parts.push(fence(whole.text()));
  for (const [index, { command, screen }] of sections.entries()) {
    const code = metadata.commands?.[index]?.exitCode;
    parts.push(`## ${index + 1}. ${inlineCode(command)}\n`);
    if (typeof code === 'number') parts.push(`> exit: ${code}\n`);
    parts.push(fence(screen.text()));
  }
  return parts.join('\n');
}

function heading({ info }: CastReading, metadata: Partial<RecordingMetadata>): string {
  const title = (info.title ?? metadata.title ?? 'Terminal recording').replace(/\s+/g, ' ');
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

function fence(text: string): string {
  const mark = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}text\n${text.trimEnd()}\n${mark}\n`;
}

function inlineCode(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim() || '(unknown command)';
  const mark = '`'.repeat(longestRun(line) + 1);
  return line.includes('`') ? `${mark} ${line} ${mark}` : `${mark}${line}${mark}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
}
