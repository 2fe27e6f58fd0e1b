import type { Clock } from '../../lib/clock.ts';
import { Emitter } from '../../lib/emitter.ts';
import type { Mark } from './marks.ts';

/** One command: where its parts stand in the output, and how it went. */
export interface Block {
  /** Counts from 1 and is never reused. */
  readonly id: number;
  readonly promptFrom: number | undefined;
  /** First byte after the prompt: what was typed, as echoed, lies between here and `outputFrom`. */
  readonly commandFrom: number | undefined;
  readonly outputFrom: number;
  /** Undefined while it runs, and when the far side ended without telling where. */
  readonly outputTo: number | undefined;
  /** Undefined when the shell did not say. */
  readonly command: string | undefined;
  /** Undefined while it runs, and when the shell did not say. */
  readonly exitCode: number | undefined;
  /** Milliseconds since the epoch; undefined if no server was running then. */
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** It runs no more, whether or not its end was seen. */
  readonly isOver: boolean;
  /** Where the command was started. */
  readonly cwd: string | undefined;
  /** Its start and end were announced by the shell we started. */
  readonly trusted: boolean;
  /** The shell cannot announce where output starts: it was taken to be the end of the typed line. */
  readonly inferredStart: boolean;
}

export type BlockEvent =
  | { readonly type: 'started'; readonly block: Block }
  | { readonly type: 'ended'; readonly block: Block }
  | { readonly type: 'prompt'; readonly at: number };

interface PromptStatus {
  /** The prompt the line was entered at. */
  readonly cycle: number;
  readonly exitCode: number | undefined;
  readonly at: number;
}

export type ShellState = 'unknown' | 'prompt' | 'running';

interface BlocksOptions {
  readonly clock: Pick<Clock, 'now'>;
  /** Believe only marks with our nonce, from the start. Otherwise from the first such mark on. */
  readonly trustOnly?: boolean;
  /** The oldest are forgotten first. */
  readonly limit?: number;
  /** What `save` gave, perhaps in another process. */
  readonly saved?: SavedBlocks | undefined;
}

/** Everything blocks know, in a form that JSON carries. */
export interface SavedBlocks {
  readonly blocks: readonly Block[];
  readonly isRunning: boolean;
  readonly state: ShellState;
  readonly nextId: number;
  readonly trustOnly: boolean;
  readonly continuation: boolean;
  readonly cycle: number;
  readonly promptFrom?: number | undefined;
  readonly promptAt?: number | undefined;
  readonly command?: string | undefined;
  readonly cwd?: string | undefined;
  readonly cwdHost?: string | undefined;
  readonly aid?: string | undefined;
  readonly shell?: Readonly<Record<string, string>> | undefined;
  readonly mute?: boolean | undefined;
}

/** Of so many commands the newest are saved. */
const mostSaved = 100;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Prompts and commands, told from marks. Feed it every mark in order. */
export class Blocks {
  /** What the marks told, emitted by their reader. */
  readonly events = new Emitter<BlockEvent>();
  /** The offset of a prompt, as its beginning is read. */
  readonly promptBegan = new Emitter<number>();
  /** The shell was started to mark prompts and commands with our nonce. */
  readonly marked: boolean;
  /** Undefined for what happened at another time. */
  #now: () => number | undefined;
  readonly #limit: number;
  readonly #blocks: Mutable<Block>[] = [];
  #trustOnly: boolean;
  #state: ShellState = 'unknown';
  #nextId = 1;
  #running: Mutable<Block> | undefined;
  #promptFrom: number | undefined;
  #promptAt: number | undefined;
  #continuation = false;
  #command: string | undefined;
  #cwd: string | undefined;
  #cwdHost: string | undefined;
  /** The shell's own count of prompts: an older one is a replay of its output, the same one a redrawn prompt. */
  #cycle = -1;
  #aid: string | undefined;
  #status: PromptStatus | undefined;
  #turnedAt = 0;
  #shell: Readonly<Record<string, string>> | undefined;
  #mute = false;

  constructor(options: BlocksOptions) {
    this.#now = () => options.clock.now();
    this.#limit = options.limit ?? 1000;
    this.marked = options.trustOnly ?? false;
    this.#trustOnly = this.marked;
    if (options.saved) this.#restore(options.saved);
  }

  save(): SavedBlocks {
    return {
      blocks: this.#blocks.slice(-mostSaved),
      isRunning: this.#running !== undefined,
      state: this.#state,
      nextId: this.#nextId,
      trustOnly: this.#trustOnly,
      continuation: this.#continuation,
      cycle: this.#cycle,
      promptFrom: this.#promptFrom,
      promptAt: this.#promptAt,
      command: this.#command,
      cwd: this.#cwd,
      cwdHost: this.#cwdHost,
      aid: this.#aid,
      shell: this.#shell,
      mute: this.#mute,
    };
  }

  #restore(saved: SavedBlocks): void {
    // Written before there was a word for it, those that are over have a time.
    this.#blocks.push(
      ...saved.blocks.map((block) => ({ ...block, isOver: block.isOver ?? block.endedAt !== undefined })),
    );
    this.#running = saved.isRunning ? this.#blocks.at(-1) : undefined;
    this.#state = saved.state;
    this.#nextId = saved.nextId;
    this.#trustOnly = saved.trustOnly;
    this.#continuation = saved.continuation;
    this.#cycle = saved.cycle;
    this.#promptFrom = saved.promptFrom;
    this.#promptAt = saved.promptAt;
    this.#command = saved.command;
    this.#cwd = saved.cwd;
    this.#cwdHost = saved.cwdHost;
    this.#aid = saved.aid;
    this.#shell = saved.shell;
    this.#mute = saved.mute ?? false;
  }

  get state(): ShellState {
    return this.#state;
  }

  /**
   * Where a command last began or ended, or a prompt was complete: the program that reads from here on is another than the one
   * that printed what stands before.
   */
  get turnedAt(): number {
    return this.#turnedAt;
  }

  /** The shell's line editor asks the terminal by itself, and reads the answers at its prompt. */
  get shellAsks(): boolean {
    return this.#shell?.['asks'] === '1';
  }

  /** Offset just after the prompt on show; undefined while none is. */
  get promptAt(): number | undefined {
    return this.#state === 'prompt' ? this.#promptAt : undefined;
  }

  /** Offset of the prompt on show; undefined while none is. */
  get promptFrom(): number | undefined {
    return this.#state === 'prompt' ? this.#promptFrom : undefined;
  }

  /** The shell's own count of prompts, -1 while it has told none: a redrawn prompt has the number it had. */
  get cycle(): number {
    return this.#cycle;
  }

  /** What the shell told last of how a line went, whether or not it told where its command began. */
  get status(): PromptStatus | undefined {
    return this.#status;
  }

  /** The shell shows its continuation prompt: the command so far is incomplete. */
  get incomplete(): boolean {
    return this.#state === 'prompt' && this.#continuation;
  }

  get cwd(): string | undefined {
    return this.#cwd;
  }

  /** The machine the directory is on, as it calls itself; undefined where the shell did not say. */
  get cwdHost(): string | undefined {
    return this.#cwdHost;
  }

  /** What the integration announced of itself: `shell`, `pid`, `usr1` and `winch`: what the signals do. */
  get shell(): Readonly<Record<string, string>> | undefined {
    return this.#shell;
  }

  /** The shell lost the hooks that tell of commands: its marks no longer tell reliably where one begins and ends. */
  get mute(): boolean {
    return this.#mute;
  }

  get current(): Block | undefined {
    return this.#running;
  }

  /** The newest block, running or not. */
  get last(): Block | undefined {
    return this.#blocks.at(-1);
  }

  get list(): readonly Block[] {
    return this.#blocks;
  }

  find(id: number): Block | undefined {
    return this.#blocks.find((block) => block.id === id);
  }

  /** Replays output that arrived while no server was running: its times are unknown. */
  catchUp(mark: Mark): void {
    const clock = this.#now;
    this.#now = () => undefined;
    this.accept(mark);
    this.#now = clock;
  }

  accept(mark: Mark): readonly BlockEvent[] {
    if (!this.#believes(mark)) return [];
    const events = this.#take(mark);
    // A query that is cut off by the mark is complete with its first byte: so all of the mark belongs to what is over.
    if (events.some(({ type }) => type !== 'prompt' || !this.shellAsks)) this.#turnedAt = mark.to;
    return events;
  }

  #take(mark: Mark): readonly BlockEvent[] {
    switch (mark.kind) {
      case 'A':
        return this.#prompt(mark);
      case 'B':
      case 'I':
        return this.#promptEnd(mark);
      case 'P':
        return this.#property(mark);
      case 'E':
        return this.#text(mark);
      case 'C':
        return this.#start(mark, mark.to, mark.value === '' ? undefined : mark.value, false);
      case 'eol':
        return this.#lineEntered(mark);
      case 'D':
        this.#mute = isMute(mark);
        this.#status = { cycle: this.#cycle, exitCode: status(mark.value), at: mark.from };
        return this.#end(mark.from, status(mark.value), mark.trusted);
      case 'cwd':
        this.#cwd = mark.value;
        this.#cwdHost = mark.params['host'];
        return [];
      default:
        return [];
    }
  }

  /** The far side is gone. Without the offset of its last byte, the output of a running command has no known end. */
  end(at?: number, endedAt = this.#now()): readonly BlockEvent[] {
    const events = this.#end(at, undefined, false, endedAt);
    this.#state = 'unknown';
    return events;
  }

  #believes(mark: Mark): boolean {
    if (mark.trusted && !this.#trustOnly) {
      this.#trustOnly = true;
      if (this.#state !== 'unknown') this.#forget();
    }
    // A directory carries no nonce; while no command runs, only the shell can have printed it.
    if (mark.kind === 'cwd') return !this.#trustOnly || this.#state !== 'running';
    if (!mark.trusted && this.#trustOnly) return false;
    const aid = mark.params['aid'];
    if (aid !== undefined && this.#running !== undefined && this.#aid !== undefined && aid !== this.#aid) return false;
    return this.#inTurn(mark);
  }

  #inTurn(mark: Mark): boolean {
    const cycle = Number(mark.params['n'] ?? Number.NaN);
    if (Number.isNaN(cycle)) return true;
    // A prompt whose drawing was broken off is not announced; the command entered at it is.
    if ((mark.kind === 'A' || mark.kind === 'C') && cycle > this.#cycle) return true;
    return cycle === this.#cycle && !(mark.kind === 'A' && this.#running !== undefined);
  }

  #prompt(mark: Mark): readonly BlockEvent[] {
    const events = this.#running === undefined ? [] : this.#end(mark.from, undefined, false);
    const cycle = Number(mark.params['n'] ?? Number.NaN);
    if (!Number.isNaN(cycle)) this.#cycle = cycle;
    this.#aid = mark.params['aid'];
    this.#mute ||= isMute(mark);
    this.#promptFrom = mark.from;
    this.#command = undefined;
    this.#continuation = false;
    // Until B the prompt is still being drawn; shells that send no B are ready now.
    this.#state = 'prompt';
    this.#promptAt = undefined;
    this.promptBegan.emit(mark.from);
    if (mark.params['b'] !== '0') return events;
    return [...events, ...this.#ready(mark.to)];
  }

  #promptEnd(mark: Mark): readonly BlockEvent[] {
    if (this.#running !== undefined) return [];
    this.#state = 'prompt';
    return this.#ready(mark.to);
  }

  #ready(at: number): readonly BlockEvent[] {
    this.#promptAt = at;
    return [{ type: 'prompt', at }];
  }

  #property(mark: Mark): readonly BlockEvent[] {
    if (mark.params['shell'] !== undefined) this.#shell = mark.params;
    if (mark.params['k'] !== 's') return [];
    // A line was entered and the shell wants more of it: what looked like a start was none.
    if (this.#running?.inferredStart === true) {
      this.#promptFrom = this.#running.promptFrom;
      this.#blocks.pop();
      this.#running = undefined;
    }
    if (this.#running !== undefined && !mark.trusted) return [];
    // Of several lines entered at once some have run, and the shell wants more of the last.
    const events = this.#running === undefined ? [] : this.#end(mark.from, undefined, false);
    this.#state = 'prompt';
    this.#continuation = true;
    return [...events, ...this.#ready(mark.to)];
  }

  #text(mark: Mark): readonly BlockEvent[] {
    if (this.#running === undefined) this.#command = mark.value;
    else this.#running.command = mark.value;
    return [];
  }

  #lineEntered(mark: Mark): readonly BlockEvent[] {
    const typed = printable(mark.value);
    // Nothing was entered, or Ctrl-C dropped the line.
    if (!this.#continuation && (typed === '' || typed?.endsWith('^C') === true)) return [];
    return this.#start(mark, mark.to, this.#continuation ? undefined : typed, true);
  }

  #start(mark: Mark, outputFrom: number, command: string | undefined, inferredStart: boolean): readonly BlockEvent[] {
    const events = this.#running === undefined ? [] : this.#end(mark.from, undefined, false);
    this.#cycle = Math.max(this.#cycle, Number(mark.params['n'] ?? -1));
    const block: Mutable<Block> = {
      id: this.#nextId++,
      promptFrom: this.#promptFrom,
      commandFrom: this.#promptAt,
      outputFrom,
      outputTo: undefined,
      command: command ?? this.#command,
      exitCode: undefined,
      startedAt: this.#now(),
      endedAt: undefined,
      isOver: false,
      cwd: this.#cwd,
      trusted: mark.trusted,
      inferredStart,
    };
    this.#blocks.push(block);
    if (this.#blocks.length > this.#limit) this.#blocks.shift();
    this.#running = block;
    this.#state = 'running';
    this.#continuation = false;
    this.#promptFrom = undefined;
    this.#promptAt = undefined;
    this.#command = undefined;
    return [...events, { type: 'started', block: { ...block } }];
  }

  #end(
    at: number | undefined,
    exitCode: number | undefined,
    trusted: boolean,
    endedAt = this.#now(),
  ): readonly BlockEvent[] {
    const block = this.#running;
    if (block === undefined) return [];
    if (at !== undefined) block.outputTo = Math.max(at, block.outputFrom);
    block.exitCode = exitCode;
    block.endedAt = endedAt;
    block.isOver = true;
    block.trusted &&= trusted;
    this.#running = undefined;
    // The prompt comes next, and where it ends is told by B.
    this.#state = 'prompt';
    return [{ type: 'ended', block: { ...block } }];
  }

  /** What untrusted marks built before the integration spoke up is not to be believed. */
  #forget(): void {
    this.#running = undefined;
    this.#state = 'unknown';
    this.#promptFrom = undefined;
    this.#promptAt = undefined;
    this.#command = undefined;
  }
}

const isMute = ({ params }: Mark): boolean => params['mute'] === '1';

function status(value: string): number | undefined {
  return /^-?\d{1,10}$/.test(value) ? Number(value) : undefined;
}

/** The echoed line, if it reads the same as it looks: an edited one holds cursor movements. */
function printable(echoed: string): string | undefined {
  const text = echoed.replace(/\x1b\[(?:6n|\?[\d;]*[hl])/g, '').replace(/(?<!\r)\r+$/, '');
  return /[\0-\x1f\x7f]/.test(text) ? undefined : text;
}
