import type { Pause } from '../../../system/turns.ts';
import { parseSize } from '../cast/cast-reader.ts';
import type { Size } from '../../terminal/channel.ts';
import { BlockCount } from './block-count.ts';
import type { LogEvent } from './log-line.ts';
import { OutputText, TextRoom } from './output-text.ts';

/** Output of one command, or output between commands. */
export interface LogSection {
  readonly text: string;
  /** Absent for output that belongs to no command. */
  readonly block?: {
    readonly number: number;
    readonly command: string | undefined;
    readonly exitCode: string | undefined;
    readonly startMicros: number;
    readonly endMicros: number | undefined;
  };
}

interface OpenBlock {
  readonly startMicros: number;
  command: string | undefined;
  number: number | undefined;
}

type Region = 'before' | 'prompt' | 'typed' | 'output' | 'after';

const usualSize: Size = { cols: 120, rows: 30 };
/** What is typed at a prompt is shorter; more than that is output of a shell that does not say where output begins. */
const mostTyped = 1 << 20;

/** Finds the commands in the events of a raw log, and what each of them printed. Marks may be missing; output never is. */
export class LogSections {
  readonly #pause: Pause;
  readonly #room = new TextRoom();
  readonly #sections: LogSection[] = [];
  readonly #count = new BlockCount();
  #size = usualSize;
  #region: Region = 'before';
  #text: OutputText;
  #block: OpenBlock | undefined;
  /** Output at the prompt: the echo of the line, unless no command begins there. */
  #typed: LogEvent[] = [];
  #typedBytes = 0;
  #lastMicros = 0;
  /** The shell marked its prompts or commands. */
  isMarked = false;

  constructor(pause: Pause) {
    this.#pause = pause;
    this.#text = new OutputText(this.#size, pause, this.#room);
  }

  get blockCount(): number {
    return this.#count.value;
  }

  async accept(event: LogEvent): Promise<void> {
    this.#lastMicros = event.micros;
    if (event.name === 'out') await this.#output(event);
    else if (event.name === 'resize') this.#resize(event.data.toString());
    else if (event.name === 'gap') await this.#gap(event);
    else if (event.name === 'screen') this.#text.alternate(event.micros);
    else if (event.name.startsWith('block_')) await this.#mark(event);
  }

  async end(): Promise<readonly LogSection[]> {
    await this.#leave();
    return this.#sections;
  }

  async #output(event: LogEvent): Promise<void> {
    if (this.#region === 'prompt') return;
    if (this.#region !== 'typed') return await this.#text.output(event.data, event.micros);
    this.#typed.push(event);
    this.#typedBytes += event.data.length;
    if (this.#typedBytes > mostTyped) await this.#typedIsOutput();
  }

  #resize(text: string): void {
    this.#size = parseSize(text) ?? this.#size;
    this.#text.resize(this.#size);
  }

  async #gap({ data, micros, name }: LogEvent): Promise<void> {
    const words = `\r\n[${data.toString()} bytes of output were not recorded]\r\n`;
    await this.#output({ name, micros, data: Buffer.from(words) });
  }

  async #mark({ name, data, micros }: LogEvent): Promise<void> {
    this.isMarked = true;
    const counts = this.#count.accept(name, data);
    const text = data.length === 0 ? undefined : data.toString();
    if (name === 'block_output') {
      if (this.#region === 'typed') this.#forgetTyped();
      await this.#leave();
      this.#region = 'output';
      this.#block = { startMicros: micros, command: text, number: undefined };
    }
    if (counts && this.#block) this.#block.number = this.#count.value;
    if (name === 'block_exit') await this.#exit(text, micros);
    else if (name === 'block_input' && text !== undefined && this.#block) this.#block.command ??= text;
    else if (name === 'block_prompt' || (name === 'block_input' && this.#region !== 'typed')) {
      await this.#leave();
      this.#region = name === 'block_prompt' ? 'prompt' : 'typed';
    }
  }

  async #exit(exitCode: string | undefined, micros: number): Promise<void> {
    if (this.#region !== 'output') return;
    await this.#finishBlock(exitCode, micros);
    this.#region = 'after';
  }

  /** Ends the stretch of output that goes on. */
  async #leave(): Promise<void> {
    if (this.#region === 'output') return await this.#finishBlock(undefined, undefined);
    // Its first line is what was typed; no command came of it.
    if (this.#region === 'typed') await this.#typedIsOutput();
    const text = await this.#takeText();
    const shown = this.#region === 'typed' ? text.split('\n').slice(1).join('\n') : text;
    if (shown.trim() === '') return;
    const before = this.#region === 'after' ? this.#sections.pop() : undefined;
    if (before) this.#sections.push({ ...before, text: [before.text, shown].filter((part) => part !== '').join('\n') });
    else this.#sections.push({ text: shown });
  }

  async #typedIsOutput(): Promise<void> {
    const typed = this.#typed;
    this.#forgetTyped();
    for (const { data, micros } of typed) await this.#text.output(data, micros);
  }

  #forgetTyped(): void {
    this.#typed = [];
    this.#typedBytes = 0;
  }

  async #finishBlock(exitCode: string | undefined, endMicros: number | undefined): Promise<void> {
    const text = await this.#takeText();
    const { number, ...block } = this.#block ?? {
      number: undefined,
      command: undefined,
      startMicros: this.#lastMicros,
    };
    this.#block = undefined;
    if (number !== undefined) this.#sections.push({ text, block: { ...block, number, exitCode, endMicros } });
    else if (text !== '') this.#sections.push({ text });
  }

  async #takeText(): Promise<string> {
    using text = this.#text;
    this.#text = new OutputText(this.#size, this.#pause, this.#room);
    return await text.end(this.#lastMicros);
  }
}
