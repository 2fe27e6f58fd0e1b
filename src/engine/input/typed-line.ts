/** What stands at the keyboard since the last line was entered, as far as the keys tell. */
export interface TypedLine {
  /** Undefined: keys may have changed it in ways that are not visible here. */
  readonly text: string | undefined;
  /** In the middle of a bracketed paste. */
  readonly pasting: boolean;
  /** The last key was Ctrl+X: with Ctrl+E it has a shell edit the line elsewhere, and run it. */
  readonly prefixed: boolean;
  /** The last key was Ctrl+V or Ctrl+Q: the next one becomes a part of the line, whatever it is. */
  readonly quoted: boolean;
  /** Escape was pressed since the line began. In vi mode every key after it is a command. */
  readonly escaped: boolean;
  /** The beginning of a key that is sent as several bytes: Escape alone, or `ESC [ 1`. */
  readonly begun: string;
}

export const emptyLine: TypedLine = {
  text: '',
  pasting: false,
  prefixed: false,
  quoted: false,
  escaped: false,
  begun: '',
};
export const changedLine: TypedLine = { ...emptyLine, text: undefined, escaped: true };

/** Judges a line before it is entered: returns why it is refused. The line is undefined if it is unknown. */
export type JudgeTyped = (line: string | undefined) => Error | undefined;

/** What is typed: keys, whose lines are judged; a command that was judged as such; or whatever a person types, who answers for it. */
export type TypedAs = 'keys' | 'command' | 'person';

/** Longer than any line that is judged. */
const longest = 65_536;

const pasteBegins = '\x1b[200~';
const pasteEnds = '\x1b[201~';
// oxlint-disable-next-line no-control-regex
const pieces = /\x1b\[[0-?]*[ -/]*(?:[@-~]|$)|\x1bO(?:[ -~]|$)|\x1b[ -~]|[\x00-\x1f\x7f-\x9f]|[^\x00-\x1f\x7f-\x9f]+/g;
// oxlint-disable-next-line no-control-regex
const unfinished = /^\x1b(?:\[[0-?]*[ -/]*|O)?$/;
/** No key is longer. */
const longestKey = 32;
/**
 * Keys that have a shell run something, whatever stands there: zsh's Esc-a (accept-and-hold), Esc-z (the last named command) and
 * Esc-h or Esc-? (help on it), Enter as newer protocols and the keypad send it.
 */
// oxlint-disable-next-line no-control-regex
const entering = /^\x1b(?:[aAzhH?]|OM|\[[\d:;]*u|\[27;[\d;]*~)$/;
/** After Escape: bash's Esc-# and the `v` and `#` of vi mode. */
const viEntering = /[v#]/;
/** After Ctrl+X: the editor, a recorded macro, and the expansions of zsh. */
// oxlint-disable-next-line no-control-regex
const prefixEntering = /^[\x05de*gGm]/;
/** zsh expands it at Tab (in vi mode also at Ctrl+G), and so runs what stands in it. */
const runsAtTab = /[(`]/;
// oxlint-disable-next-line no-control-regex
const control = /[\x00-\x1f\x7f-\x9f]/;

/**
 * The line after some keys, and the lines that they enter. `pastes`: the program takes bracketed pastes; to others the marks are
 * keys like any, and a newline in a paste enters a line.
 */
export function typeKeys(
  line: TypedLine,
  keys: string,
  pastes: boolean,
): { readonly line: TypedLine; readonly entered: readonly (string | undefined)[] } {
  let { text, pasting, prefixed, quoted, escaped } = line;
  // Letters and Enter, as nearly everything that is typed: a program may wait meanwhile.
  const isEntered = keys.endsWith('\r');
  const letters = isEntered ? keys.slice(0, -1) : keys;
  const isPlain = text !== undefined && text.length + letters.length <= longest && !control.test(letters);
  if (isPlain && !pasting && !prefixed && !quoted && line.begun === '') {
    return isEntered
      ? { line: emptyLine, entered: [text + letters] }
      : { line: { ...emptyLine, escaped, text: text + letters }, entered: [] };
  }
  const all = [...`${line.begun}${keys}`.matchAll(pieces)].map(([piece]) => piece);
  const last = all.at(-1) ?? '';
  const begun = unfinished.test(last) && last.length <= longestKey ? last : '';
  const entered: (string | undefined)[] = [];
  let pasted = false;
  for (const [at, piece] of all.entries()) {
    if (prefixed && prefixEntering.test(piece)) entered.push(undefined);
    if (at > 0 && all[at - 1] === escape && piece === ctrl.E) entered.push(undefined);
    prefixed = piece === ctrl.X && !pasting;
    const literal = quoted;
    quoted = !literal && !pasting && (piece === ctrl.V || piece === ctrl.Q);
    if (literal) {
      // A program without such a key would have entered the line.
      if (piece === '\r' || piece === '\n') entered.push(undefined);
      text = undefined;
    } else if (piece === pasteBegins && pastes) pasting = true;
    else if (piece === pasteEnds && pasting) pasting = false;
    else if (pasting && /^[\r\n]$/.test(piece)) {
      text = text === undefined ? undefined : `${text}\n`;
      pasted = true;
    } else if (piece === '\r' || piece === '\n') {
      entered.push(text);
      text = '';
      escaped = false;
    } else if (piece === ctrl.C && !pasting) {
      text = '';
      escaped = false;
    } else if (piece === ctrl.U && text !== undefined && !pasting) text = '';
    else if (piece === ctrl.D && text === '') continue;
    else if (piece === ctrl.O || piece === ctrl.D) {
      // Both hand over what stands there; what stands there afterwards is an older line, or the same.
      entered.push(text);
      text = undefined;
    } else if (piece.startsWith(escape)) {
      escaped = true;
      text = undefined;
      if (entering.test(piece) || viEntering.test(piece)) entered.push(undefined);
    } else if (piece >= ' ' && !/^[\x7f-\x9f]/.test(piece)) {
      if (escaped && viEntering.test(piece)) entered.push(undefined);
      text = text === undefined || text.length + piece.length > longest ? undefined : text + piece;
    } else if (pasting && piece === '\t') text = text === undefined ? undefined : `${text}\t`;
    else {
      // An unknown line may hold one as well.
      if ((piece === '\t' || piece === ctrl.G) && (text === undefined || runsAtTab.test(text))) entered.push(text);
      text = undefined;
    }
  }
  // A program that takes no pastes after all has entered its lines by now.
  if (pasted && text !== '') entered.push(text);
  return { line: { text, pasting, prefixed, quoted, escaped, begun }, entered };
}

/** The line after these keys. Throws when one that they enter is refused. */
export function lineAfter(
  before: TypedLine,
  { keys, as, pastes }: { readonly keys: string; readonly as: TypedAs; readonly pastes: boolean },
  judge: JudgeTyped | undefined,
): TypedLine {
  const { line, entered } = typeKeys(before, keys, pastes);
  if (entered.length === 0 || as === 'person') return line;
  // Judged already, on its own: so it must not be the end of something else.
  const lines = as === 'keys' ? entered : before.text === '' ? [] : [undefined];
  for (const one of lines) {
    const refusal = judge?.(one);
    if (refusal !== undefined) throw refusal;
  }
  return as === 'keys' ? line : emptyLine;
}

const escape = '\x1b';
const ctrl = {
  C: '\x03',
  D: '\x04',
  E: '\x05',
  G: '\x07',
  O: '\x0f',
  Q: '\x11',
  U: '\x15',
  V: '\x16',
  X: '\x18',
} as const;
