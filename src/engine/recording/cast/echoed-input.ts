import { escapeEnd } from '../../redaction/escape-sequence.ts';
import { visibleText } from '../../redaction/visible-text.ts';

interface Keystrokes {
  readonly text: string;
  readonly atMs: number;
  /** Enter, arrows, Ctrl-C: never part of a password. */
  readonly isKey: boolean;
}

/** Text typed between two control keys, and the output since. */
interface Run {
  typed: string;
  readonly keystrokes: Keystrokes[];
  shown: string;
  closed: boolean;
}

const longestShown = 8_192;
const mostRuns = 64;
/** A match of one or two letters counts only at once: later it may be chance. */
const chance = 4;

/**
 * Where the echo mode is unknown (a line editor, a shell behind ssh), typed text counts as echoed once it appears in the
 * output, which the recording holds anyway. The rest may be a password and is dropped.
 */
export class EchoedInput {
  readonly #emit: (text: string, atMs: number) => void;
  #runs: Run[] = [];

  constructor(emit: (text: string, atMs: number) => void) {
    this.#emit = emit;
  }

  /** Output would tell something. */
  get waits(): boolean {
    return this.#runs.length > 0;
  }

  input(text: string, atMs: number): void {
    for (const token of tokens(text)) {
      const run = this.#runs.at(-1);
      const isKey = /^[\x00-\x1f\x7f]/.test(token);
      if (isKey && run === undefined) this.#emit(token, atMs);
      else if (isKey && run !== undefined) press(run, token, atMs);
      else if (run === undefined || run.closed) this.#begin(token, atMs);
      else {
        run.typed += token;
        run.keystrokes.push({ text: token, atMs, isKey });
      }
    }
    this.#settle(false);
  }

  output(text: string): void {
    if (this.#runs.length === 0) return;
    for (const run of this.#runs) run.shown = (run.shown + text).slice(0, longestShown);
    this.#settle(false);
  }

  end(): void {
    this.#settle(true);
  }

  #begin(typed: string, atMs: number): void {
    this.#runs.push({ typed, keystrokes: [{ text: typed, atMs, isKey: false }], shown: '', closed: false });
    if (this.#runs.length > mostRuns) this.#release(this.#runs.shift() as Run, false);
  }

  /** An echoed run settles the runs before it: those not echoed by then never will be. */
  #settle(over: boolean): void {
    const last = this.#runs.findLastIndex((run) => run.closed && (isShown(run) || run.shown.length >= longestShown));
    const settled = this.#runs.splice(0, over ? this.#runs.length : last + 1);
    for (const run of settled) this.#release(run, isShown(run));
  }

  #release(run: Run, echoed: boolean): void {
    for (const { text, atMs, isKey } of run.keystrokes) if (echoed || isKey) this.#emit(text, atMs);
  }
}

function press(run: Run, token: string, atMs: number): void {
  run.keystrokes.push({ text: token, atMs, isKey: true });
  if (!run.closed && (token === '\x7f' || token === '\b')) run.typed = run.typed.slice(0, -1);
  else run.closed = true;
}

function isShown({ typed, shown }: Run): boolean {
  const visible = visibleText(shown, 0, true).text;
  return typed.length < chance ? visible.startsWith(typed) : visible.includes(typed);
}

/** Printable stretches, control sequences and single controls. */
function tokens(text: string): string[] {
  const found: string[] = [];
  const printable = /[^\x00-\x1f\x7f]+/y;
  for (let at = 0; at < text.length; ) {
    printable.lastIndex = at;
    const run = printable.exec(text)?.[0];
    const end = text[at] === '\x1b' ? escapeEnd(text, at) : at + 1;
    const token = run ?? text.slice(at, end < 0 ? text.length : Math.max(end, at + 1));
    found.push(token);
    at += token.length;
  }
  return found;
}
