import type { Block, BlockEvent } from '../../terminal/blocks.ts';
import { deferred } from '../../../lib/deferred.ts';
import { renderText } from '../../screen/render-text.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type ShellTraits, traitsOf } from '../../shells/traits.ts';
import { endedByExit, whenExited } from './exited.ts';
import { afterQuiet } from '../../waiting/quiet-watch.ts';
import type { CommandOutcome, Watch } from '../result.ts';
import { drawsKeys } from '../../shells/input-mode.ts';
import { timings } from '../../waiting/timings.ts';

const { redrawnMs, editorMs, cancelMs } = timings.marks;

const interrupt = Uint8Array.of(3);

interface MarkedCommand {
  readonly command: string;
  readonly by: string;
  /** As it will be sent. */
  readonly line: string;
  /** Commands of other senders may come before it. */
  readonly typedAhead: boolean;
  /** Something else was sent just before: a prompt may be the answer to that. */
  readonly disturbed: boolean;
}

/** Follows a command through the marks of the shell that runs it. Make it before the command is sent. */
export class MarksWatch implements Watch {
  readonly #terminal: Terminal;
  readonly #command: string;
  readonly #by: string;
  readonly #traits: ShellTraits | undefined;
  readonly #ended = deferred<CommandOutcome>();
  readonly #started = deferred();
  readonly #listening: Disposable[];
  readonly #sentAt: number;
  readonly #promptFrom: number | undefined;
  readonly #promptAt: number | undefined;
  readonly #cycle: number;
  /** The line as it was sent. */
  readonly #typed: string;
  readonly #typedAhead: boolean;
  readonly #mayEndShell: boolean;
  readonly #disturbed: boolean;
  #first: number | undefined;
  #to: number | undefined;
  #result: Block | undefined;
  #quiet: Disposable | undefined;
  #cancelling = false;

  constructor(terminal: Terminal, { command, by, line, typedAhead, disturbed }: MarkedCommand) {
    const { blocks } = terminal;
    this.#terminal = terminal;
    this.#command = command;
    this.#by = by;
    this.#disturbed = disturbed;
    this.#sentAt = terminal.log.end;
    this.#promptFrom = blocks.promptFrom;
    this.#promptAt = blocks.promptAt;
    this.#cycle = blocks.cycle;
    this.#typedAhead = typedAhead;
    this.#typed = line.replace(/^\x1b\[200~|\x1b\[201~|\r$/g, '');
    this.#mayEndShell = /\b(?:exit|logout|exec|kill)\b/.test(command);
    this.#listening = [
      terminal.blocks.events.on((event) => this.#event(event)),
      whenExited(terminal, (ended) => this.#finish(endedByExit(ended, this.outputFrom, this.#to ?? terminal.log.end))),
    ];
    this.#traits = traitsOf(blocks.shell?.['shell']);
    if (this.#traits?.marks?.keepsRefusedLine) this.#lookAtEditor(editorMs);
  }

  get ended(): Promise<CommandOutcome> {
    return this.#ended.promise;
  }

  get started(): Promise<void> {
    return this.#started.promise;
  }

  get outputFrom(): number {
    return this.#first ?? this.#sentAt;
  }

  [Symbol.dispose](): void {
    for (const listening of this.#listening) listening[Symbol.dispose]();
    this.#quiet?.[Symbol.dispose]();
  }

  #event(event: BlockEvent): void {
    if (this.#cancelling) return;
    if (event.type === 'started') this.#begin(event.block);
    else if (event.type === 'ended') this.#end(event.block);
    else this.#prompted();
  }

  #begin(block: Block): void {
    if (!this.#isOurs(block)) return;
    this.#first ??= this.#isEchoed(block) ? block.outputFrom : this.#sentAt;
    this.#quiet?.[Symbol.dispose]();
    this.#started.resolve();
  }

  #end(block: Block): void {
    if (!this.#isOurs(block)) {
      this.#first = undefined;
      return;
    }
    if (this.#first === undefined) return;
    this.#to = block.outputTo;
    // Of several lines bash tells only how the last one went.
    if (block.exitCode === undefined) return;
    this.#result = block;
    // fish tells of `exit` as of any command before it goes; the prompt, or the end, tells the rest.
    if (!this.#mayEndShell) this.#done();
  }

  #prompted(): void {
    const { blocks } = this.#terminal;
    if (blocks.incomplete) {
      // What looked like a start was only the first line.
      if ((blocks.last?.outputFrom ?? -1) < (this.#first ?? 0)) this.#first = undefined;
      this.#cancel('incomplete');
    } else if (this.#first !== undefined) {
      if (blocks.current === undefined && !this.#terminal.ended) this.#done();
    } else if (blocks.cycle !== this.#cycle && !this.#disturbed) this.#refused();
    else if (this.#quiet === undefined) this.#lookAtEditor(redrawnMs);
  }

  #isOurs(block: Block): boolean {
    return !this.#typedAhead || this.#isTyped(block);
  }

  /** It is what was typed, as far as the shell tells. */
  #isTyped({ command }: Block): boolean {
    if (command === undefined) return true;
    const lines = this.#typed.split('\n');
    // Of several lines bash tells the last, and of one command on several lines all, joined by semicolons.
    return lines.some((line, at) => [line, lines.slice(at).join('')].some((part) => joined(part) === joined(command)));
  }

  /** The beginning of what was typed is missing. Shells change what they tell in other ways, too, and cut long lines at their end. */
  #isCut(block: Block): boolean {
    const told = joined(block.command ?? '');
    return told !== '' && !this.#isTyped(block) && joined(this.#typed).endsWith(told);
  }

  /**
   * Plain shells do not tell where output begins: it is taken to be where the echo of the line ends. If it is unknown
   * whether there is an echo, it is looked for.
   */
  #isEchoed({ inferredStart, commandFrom, outputFrom }: Block): boolean {
    const { process, log } = this.#terminal;
    if (!inferredStart || process !== undefined || this.#typedAhead || commandFrom === undefined) return true;
    const echo = renderText(log.read(commandFrom, outputFrom).bytes, { cols: wide, rows: 1 });
    return drawn(echo).includes(drawn(this.#typed).slice(0, 40));
  }

  #done(): void {
    const exitCode = this.#result?.exitCode ?? null;
    const { outputFrom } = this;
    const outputTo = this.#to ?? this.#terminal.log.end;
    // What a shell tells of a line with nothing in it is how the command before went.
    const empty = this.#isBlank() && (!this.#traits?.marks?.runsComments || outputFrom === outputTo);
    if (empty) return this.#finish({ ...nothingRun, confidence: 'certain', outputFrom, outputTo });
    // A shell that is busy with Ctrl-C may lose the first letters of what is typed next.
    if (this.#disturbed && this.#result && this.#isCut(this.#result)) {
      return this.#finish({ ...another, outputFrom, outputTo });
    }
    const { mute } = this.#terminal.blocks;
    this.#finish({
      state: 'done',
      exitCode,
      evidence: 'mark',
      confidence: this.#result?.trusted !== true ? 'medium' : mute ? 'high' : 'certain',
      outputFrom,
      outputTo,
      ...(exitCode === null ? { note: 'The shell did not tell how it went.' } : mute ? { note: toldByPrompt } : {}),
    });
  }

  /** The shell shows its next prompt and has run nothing: no command, or one it could not make sense of. */
  #refused(): void {
    const { blocks, log } = this.#terminal;
    const outputTo = blocks.promptFrom ?? log.end;
    const blank = this.#isBlank();
    const { status } = blocks;
    // A line that no echo ends, and that printed no line of its own: the shell told how it went all the same.
    if (
      !blank &&
      this.#traits?.marks?.output === false &&
      status?.cycle === this.#cycle &&
      status.exitCode !== undefined
    ) {
      const facts = { outputFrom: this.#sentAt, outputTo: status.at, exitCode: status.exitCode } as const;
      return this.#finish({ state: 'done', evidence: 'mark', confidence: 'high', ...facts });
    }
    const text = blank ? '' : this.#said(outputTo);
    const told = blank ? nothingRun : this.#disturbed ? untold : complaint.test(text) ? refused : unreported;
    this.#finish({ ...told, outputFrom: this.#sentAt, outputTo, text });
  }

  #isBlank(): boolean {
    return this.#command.split('\n').every((line) => /^\s*(?:#.*)?$/.test(line));
  }

  /** What was printed after the line as typed. The prompt is rendered with it, so that lines wrap as they did. */
  #said(to: number): string {
    const { log, screen } = this.#terminal;
    const from = this.#promptFrom ?? this.#sentAt;
    const prompt = renderText(log.read(from, this.#promptAt ?? from).bytes, screen.size).split('\n');
    const command = this.#command.split('\n');
    const lines = renderText(log.read(from, to).bytes, screen.size).split('\n');
    const typed = prompt.length - 1 + command.length;
    const said = lines.slice(typed);
    // Such a shell shows the line once more, to be corrected.
    if (said.length > typed && said.at(-1)?.endsWith(command.at(-1) ?? '') === true) said.splice(-typed);
    return said.join('\n').trimEnd();
  }

  #lookAtEditor(quietMs: number): void {
    this.#quiet = afterQuiet(this.#terminal, quietMs, () => {
      const { blocks, process, log } = this.#terminal;
      if (this.#first !== undefined || this.#cancelling || log.end === this.#sentAt) return;
      // While a command runs, the terminal is not in the hands of an editor.
      if (this.#traits?.hasLineEditor !== false && drawsKeys(process?.inputMode()) === false) return;
      // The line is left in the editor: with a complaint, or waiting for the rest of it.
      if (this.#traits?.marks?.keepsRefusedLine)
        this.#cancel(this.#said(log.end).trim() === '' ? 'incomplete' : 'refused');
      else if ((blocks.promptAt ?? 0) > this.#sentAt) this.#refused();
    });
  }

  /** Has the shell forget what it holds, and waits for the prompt after that. */
  #cancel(why: 'incomplete' | 'refused'): void {
    if (this.#cancelling) return;
    this.#cancelling = true;
    const { log, clock, blocks } = this.#terminal;
    const ran = this.#first !== undefined;
    const facts = {
      outputFrom: this.outputFrom,
      outputTo: this.#to ?? log.end,
      ...(ran ? {} : { text: why === 'refused' ? this.#said(log.end) : '' }),
    };
    const finish = (): void =>
      this.#finish({ ...(why === 'incomplete' ? incomplete(ran) : this.#disturbed ? untold : refused), ...facts });
    this.#listening.push(
      clock.after(cancelMs, finish),
      blocks.events.on((event) => {
        if (event.type === 'prompt' && !blocks.incomplete) finish();
      }),
    );
    const press = (): void => {
      this.#terminal.input.send(interrupt, this.#by, AbortSignal.timeout(cancelMs)).catch(finish);
    };
    press();
    // A shell that was just about to read its terminal may not have noticed.
    this.#listening.push(
      clock.after(cancelMs / 2, () => {
        if (blocks.incomplete) press();
      }),
    );
  }

  #finish(ending: CommandOutcome): void {
    this[Symbol.dispose]();
    this.#started.resolve();
    this.#ended.resolve(ending);
  }
}

const wide = 1000;
/** Line editors show a question mark for a letter they cannot draw. */
const drawn = (text: string): string => text.replace(/[^!-~]|\?/g, '');
const joined = (text: string): string => text.replace(/[\s;]+/g, '');

const nothingRun = {
  state: 'done',
  exitCode: null,
  evidence: 'mark',
  confidence: 'high',
  note: 'There was nothing to run.',
} as const;

const toldByPrompt =
  'The shell lost the hook that reports a command; its prompt told the exit code. The output may hold what prompt commands print.';

const refused = {
  ...nothingRun,
  note: 'The shell did not run it; what it said is the output.',
} as const;

/** A shell that refuses a line says so itself: `bash: syntax error …`, `zsh: parse error …`. */
const complaint = /^\S*sh: /m;

const unreported = {
  ...nothingRun,
  confidence: 'low',
  note: 'The shell is back at its prompt and reported nothing: it is not known whether it ran. The output is what followed the line.',
} as const;

const untold = {
  ...nothingRun,
  confidence: 'low',
  note: 'Other input came just before it, and the shell told nothing of it: it is not known whether it ran.',
} as const;

const another = {
  ...untold,
  note: 'Other input came just before it, and the shell ran something else than was typed: what it did is not known.',
} as const;

const incomplete = (ran: boolean) =>
  ({
    ...nothingRun,
    state: 'incomplete',
    note: `The shell wanted more: a quote, a bracket or a word is missing. ${ran ? 'The lines before it have run; the rest was' : 'It was'} dropped with Ctrl+C.`,
  }) as const;
