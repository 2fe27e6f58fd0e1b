import type { Size } from '../../terminal/channel.ts';
import { type CastEvent, parseSize } from '../cast/cast-reader.ts';

/** A terminal of the given size that turns output into the text a person sees, history included. */
export interface TextScreen {
  feed(text: string): void;
  resize(size: Size): void;
  text(): string;
}
export type OpenTextScreen = (size: Size) => TextScreen;

interface Section {
  readonly command: string;
  text: string;
  /** As the shell told it; undefined when it did not. */
  exitCode?: number;
}

interface OpenSection {
  readonly section: Section;
  screen: TextScreen;
  fed: boolean;
}

/** Where the shell says that output begins (C) and ends (D, with the exit code), and that a prompt follows (A). */
const marks = /\x1b\](?:133|633);(?<kind>[ACD])(?:;(?<code>-?\d+))?[^\x07\x1b]*(?:\x07|\x1b\\)/g;
const outputMark = /\x1b\](?:133|633);C/;

/**
 * Finds the commands of a cast and what each of them printed. A marker stands before the piece of output in which its
 * command begins, and that piece may begin with the end of another command.
 */
export class Sections {
  readonly #open: OpenTextScreen;
  readonly #all: Section[] = [];
  /** Markers whose output has not been seen to begin. */
  #waiting: OpenSection[] = [];
  #current: OpenSection | undefined;
  #size: Size;

  constructor(size: Size, open: OpenTextScreen) {
    this.#size = size;
    this.#open = open;
  }

  accept({ code, data }: CastEvent): void {
    if (code === 'm') this.#begin(data);
    else if (code === 'r') this.#resize(data);
    else if (code === 'o') this.#output(data);
  }

  end(): readonly Section[] {
    this.#finish(this.#current);
    for (const waiting of this.#waiting) this.#finish(waiting);
    return this.#all;
  }

  #begin(command: string): void {
    // No shell marks: the output of the marker before ends here.
    if (this.#waiting[0]?.fed === true) this.#finish(this.#waiting.shift());
    const section = { command, text: '' };
    this.#all.push(section);
    this.#waiting.push({ section, screen: this.#open(this.#size), fed: false });
  }

  #resize(data: string): void {
    const size = parseSize(data);
    if (size === undefined) return;
    this.#size = size;
    for (const { screen } of this.#waiting) screen.resize(size);
    this.#current?.screen.resize(size);
  }

  #output(data: string): void {
    let from = 0;
    for (const mark of data.matchAll(marks)) {
      this.#feed(data.slice(from, mark.index));
      from = mark.index + mark[0].length;
      const { kind, code } = mark.groups as { readonly kind: string; readonly code?: string };
      if (kind === 'C') this.#beginOutput();
      else if (kind === 'D' || this.#current !== undefined) this.#endOutput(code, outputMark.test(data.slice(from)));
    }
    this.#feed(data.slice(from));
  }

  #feed(text: string): void {
    const open = this.#current ?? this.#waiting[0];
    if (open === undefined || text === '') return;
    open.screen.feed(text);
    open.fed = true;
  }

  /** What came since the marker was the command line as it was typed. */
  #beginOutput(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    this.#finish(this.#current);
    this.#current = { ...next, screen: this.#open(this.#size) };
  }

  #endOutput(code: string | undefined, beginsLater: boolean): void {
    // A shell without a begin mark still marks the end.
    const ending = this.#current ?? (beginsLater ? undefined : this.#waiting.shift());
    if (ending === undefined) return;
    if (code !== undefined) ending.section.exitCode = Number(code);
    this.#finish(ending);
    this.#current = undefined;
  }

  #finish(open: OpenSection | undefined): void {
    if (open !== undefined) open.section.text = open.screen.text();
  }
}
