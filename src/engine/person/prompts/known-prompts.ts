import { timings } from '../../waiting/timings.ts';
import { isCarrier } from '../../shells/carriers.ts';
import { isShell } from '../../shells/traits.ts';
import { markerWord } from '../../shells/command-text.ts';
import { answersTo } from '../answers.ts';
import { type ProgramPrompt, type PromptKind, needsOf } from './prompt.ts';

/** What a terminal shows where its cursor stands, as far as questions are concerned. */
export interface CursorView {
  /** The line up to the cursor, rows that were wrapped joined. */
  readonly line: string;
  /** Lines above it, nearest last. */
  readonly above: readonly string[];
  /** The cursor stands in the last row. */
  readonly lastRow: boolean;
  /** The whole line is shown in reverse. */
  readonly inverse: boolean;
  readonly bracketedPaste: boolean;
  /** False at a password prompt, true where the driver echoes, undefined for raw programs and unknown far sides. */
  readonly echo: boolean | undefined;
  /** Milliseconds since the last output. */
  readonly quietMs: number;
  /** Name of the program in the foreground. Asked only when the text alone does not decide. */
  readonly program: () => string | undefined;
  /** Whether a process waits for input, by ProcessView. Asked only when the text looks like a question. */
  readonly reads: () => boolean | undefined;
}

const secretHint = 'A person must type it; never send it.';
const mayDecide = 'if you may decide this; otherwise ask the person.';

const hints: Readonly<Record<PromptKind, string>> = {
  password: secretHint,
  passphrase: secretHint,
  one_time_code: secretHint,
  fingerprint: 'Let the person compare the fingerprint and answer yes or no.',
  touch: 'The person must touch the device; there is nothing to type.',
  yes_no: `Type y or n (or the word it asks for) and press Enter, ${mayDecide}`,
  pager: 'A pager shows a part, and no secret is asked: press Space for the next page, q to quit.',
  any_key: 'Press Enter to continue.',
  choice: `It is no secret: type the answer and press Enter, ${mayDecide}`,
  text: `It is no secret: type the answer and press Enter, ${mayDecide}`,
};

const secretKinds: ReadonlySet<PromptKind> = new Set(['password', 'passphrase', 'one_time_code']);

const { patientMs, agentMs } = timings.prompts;
/** Longer lines are data, not questions. */
const longest = 500;

/** What a program asks for, by the text at its cursor. Every pattern runs in linear time. */
export function question(asked: CursorView): ProgramPrompt | undefined {
  const line = asked.line.slice(-longest).trimEnd() || askedAbove(asked);
  if (line === '') return undefined;
  const kind = kindOf(line, asked);
  if (kind === undefined || (kind !== 'touch' && isWorking(line, asked))) return undefined;
  const fits = answersTo(kind, line, asked.above);
  return {
    kind,
    needs: needsOf(kind),
    prompt: promptOf(kind, line, asked),
    secret: secretKinds.has(kind),
    hint: hints[kind],
    ...(fits && { fits }),
  };
}

/** What a program that draws a field for a secret asks for. */
export function secretQuestion(prompt: string): ProgramPrompt {
  const kind = secretKind(prompt);
  return { kind, needs: 'person', prompt: plain(prompt), secret: true, hint: hints[kind] };
}

/** The best proof against a question: it was printed, and every program in the foreground waits for something else. */
function isWorking(line: string, { reads, echo, quietMs }: CursorView): boolean {
  return reads() === false && !(echo === false && quietMs >= agentMs && secretAsked.test(line));
}

function kindOf(line: string, asked: CursorView): PromptKind | undefined {
  if (isTouch(line, asked)) return 'touch';
  if (isFingerprint(line)) return 'fingerprint';
  if (isYesNo(line, asked.above)) return 'yes_no';
  if (isPager(line, asked)) return 'pager';
  if (isAnyKey(line) && !(asked.echo === false && secretAsked.test(line))) return 'any_key';
  if (asked.echo === false) return looksAsking.test(line) || secretWord.test(line) ? secretKind(line) : undefined;
  if (secretAsked.test(line)) return printers.has(asked.program() ?? '') ? undefined : secretKind(line);
  if (printers.has(asked.program() ?? '')) return undefined;
  if (isChoice(line, asked)) return 'choice';
  return isText(line, asked) ? 'text' : undefined;
}

/** Security keys: "Confirm user presence for key ED25519-SK SHA256:…", "Please touch the device." */
const touch =
  /^\W{0,4}(?:please )?(?:confirm user presence for key\b|(?:touch|tap) (?:the|your) .{0,40}\b(?:device|key|yubikey|token|authenticator|sensor)\b)/i;

const isTouch = (line: string, { quietMs, program }: CursorView): boolean =>
  quietMs >= patientMs && line.length <= longestLabel && touch.test(line) && !printers.has(program() ?? '');

const isFingerprint = (line: string): boolean =>
  /continue connecting \(yes\/no(?:\/\[fingerprint\])?\)\?$/i.test(line) ||
  /\btype 'yes', 'no' or the fingerprint:$/i.test(line);

// The first letter of "yes" in the languages installers are translated to.
const yesNo: readonly RegExp[] = [
  /[[(<]\s?\[?[yjosдt](?:es|a|ui|í|i)?\]?\s?(?:\/|\||,|\sor\s)?\s?\[?[nн](?:o|ein|on|ão)?\]?\s?(?:\/\?)?[\])>](?:\s?[[(][^\])]{0,16}[\])])?\s?[?:>.]{0,3}$/i,
  /\b(?:y\/n|yes\/no|y or n|yes or no)\b[\])]?\s?[?:>]{0,2}$/i,
  // npm: "Is this OK? (yes)", "Ok to proceed? (y)"
  /\?\s\((?:y|yes|n|no)\)$/i,
  /^(?:rm|cp|mv|ln): .{1,400}\?$/,
  /\btype ['"]?yes['"]?\b.{0,60}[:?>]$/i,
];

function isYesNo(line: string, above: readonly string[]): boolean {
  if (yesNo.some((pattern) => pattern.test(line))) return true;
  return /^\s*enter a value:$/i.test(line) && above.some((text) => /only 'yes' will be accepted/i.test(text));
}

/** Programs that show a pager of theirs, or are one. */
const pagers = new Set(['less', 'more', 'most', 'man', 'git', 'journalctl', 'systemctl', 'psql', 'mysql', 'bat']);

function isPager(line: string, asked: CursorView): boolean {
  // An editor's command line looks like one; editors ask for bracketed paste.
  if (asked.bracketedPaste || asked.echo === true) return false;
  if (/--more--(?:\s?\([^)]{0,40}\))?(?:\s?\[[^\]]{0,80}\])?$/i.test(line)) return true;
  if (/(?:^|\s)\(END\)$/.test(line) || line.endsWith('(press h for help or q to quit)')) return true;
  if (/^(?:HELP -- |.{0,80}\s)\(?press RETURN\b/i.test(line)) return true;
  if (!asked.lastRow) return false;
  if (line === ':' || /^(?:lines|byte) \d+(?:-\d+)?(?:\/\d+)?(?:\s|$)/.test(line)) return true;
  return asked.inverse && pagers.has(asked.program() ?? '');
}

const isAnyKey = (line: string): boolean =>
  line.length <= 160 &&
  /\b(?:press|hit|strike|push|tap)\b.{0,30}?(?:\bany key\b|\ba key\b|\benter\b|\breturn\b|\bspace ?bar\b)/i.test(
    line,
  ) &&
  // A watch mode offers keys and needs none: "press h + enter", "Press Enter to trigger a test run".
  !/\+\s?enter\b|\bto (?:trigger|rerun|re-run|reload|refresh|restart|filter|toggle)\b/i.test(line) &&
  // The key ends what is typed before: "Enter your password and press Enter:".
  !/\b(?:enter|type|input)\b.{1,80}\b(?:and|then)\s(?:press|hit|strike|push|tap)\b/i.test(line);

/** Codes that a person gets elsewhere. Many programs echo them. */
const codeAsked =
  /\botp\b|\btotp\b|one[- ]time|\b(?:verification|authentication|authenticator|security|recovery) code|\b\d[- ]digit code|\b(?:[2m]fa|(?:two|multi)[- ]factor)\b.{0,30}\bcode/iu;
const codeWord = new RegExp(`${codeAsked.source}|passcode|\\b2fa\\b|two[- ]factor`, 'iu');
const secretWord = new RegExp(
  `pass(?:word|code|phrase|wort)|kennwort|mot de passe|contrase[ñn]a|senha|парол|密码|密碼|パスワード|\\bPIN\\b|secret|token|\\bapi[- ]?key(?=\\s?[:：]$)|${codeAsked.source}`,
  'iu',
);
const secretAsked = new RegExp(`(?:${secretWord.source})[^\\n]{0,120}[:：]$`, 'iu');
const looksAsking = /[:：?>\])]$/;

/** Whether a program that begins to read now would ask with what it has printed. */
export function mayAsk({ line, above }: Pick<CursorView, 'line' | 'above'>): boolean {
  const last = line.trim() || (above.at(-1)?.trim() ?? '');
  return last.length <= longest && ((line.trim() !== '' && looksAsking.test(last)) || isAnyKey(last));
}

/** Which secret is asked for, by its words. */
export function secretKind(line: string): PromptKind {
  if (codeWord.test(line)) return 'one_time_code';
  return /passphrase/i.test(line) ? 'passphrase' : 'password';
}

/** Programs that print other people's text: a question in it is not theirs. */
const printers = new Set(
  'cat tail head grep egrep rg tee sed awk gawk mawk dd watch journalctl dmesg sleep find ls less more bat strings'.split(
    ' ',
  ),
);

const choices: readonly RegExp[] = [
  // git add -p: "Stage this hunk [y,n,q,a,d,e,?]?"; dpkg: "(Y/I/N/O/D/Z) [default=N] ?"
  /[[(](?:[^\s,[\]()]{1,8}[,/|]\s?){2,20}[^\s,[\]()]{1,8}[\])](?:\s?[[(][^\])]{0,24}[\])])?\s?[?:>]{0,2}$/,
  /[[(]\s?\d{1,4}\s?(?:-|–|\.\.|to)\s?\d{1,4}\s?[\])]\s?[?:>]{1,2}$/,
  /\b(?:select|choose|choice|selection|option|answer|which one|what now)\b.{0,80}[?:>]$/i,
  // unzip: "[y]es, [n]o, [A]ll, [N]one, [r]ename:"; vim: "[O]pen Read-Only, (E)dit anyway, (Q)uit, (A)bort:"
  /(?:[[(][a-z][\])][\w -]{1,20}, ){2,8}.{0,40}[:?]$/i,
  /\(use (?:the )?arrow keys[^)]{0,40}\)$/i,
];

function isChoice(line: string, asked: CursorView): boolean {
  if (/^#\?$/.test(line)) return asked.above.some((text) => /^\s*\d+\) /.test(text));
  return choices.some((pattern) => pattern.test(line));
}

const texts: readonly RegExp[] = [
  /^(?:please )?(?:enter|type|specify)\b.{1,200}[:?>]$/i,
  // git and registries; npm init: "package name: (demo)"
  /^(?:user ?name|login|e-?mail)\b.{0,100}:$/i,
  /^[a-z][a-z ]{1,40}: \([^)]{1,100}\)$/i,
];

const isText = (line: string, asked: CursorView): boolean =>
  texts.some((pattern) => pattern.test(line)) || isOpenQuestion(line, asked);

/** Longer ones are sentences, not labels. */
const longestLabel = 120;

/** Any other line that asks, from a program that reads and has been waiting for a while. */
function isOpenQuestion(line: string, asked: CursorView): boolean {
  if (asked.quietMs < patientMs) return false;
  if (/\?(?:\s?[[(][^\])]{0,100}[\])])?:?$/.test(line) && asked.echo === true) return true;
  const isLabel = /\w.{0,100}[:：?]$/u.test(line);
  if (line.length > longestLabel || !(isLabel || /\w\s[>»›❯]$/u.test(line))) return false;
  const reads = asked.reads();
  // Who shows what is typed by itself may be a shell, here or far away, at a prompt of its owner's taste.
  if (asked.echo === undefined) {
    const program = asked.program();
    // IPython: "In [1]:".
    return isLabel && reads === true && !line.endsWith(']:') && !isShell(program) && !isCarrier(program);
  }
  return reads === true || /\s$/.test(asked.line);
}

/** A program may ask for a key or a touch and end the line. */
function askedAbove({ above, quietMs, program }: CursorView): string {
  const line = above.at(-1)?.trim() ?? '';
  const asks =
    quietMs >= patientMs &&
    (touch.test(line) || (/^[[(<*=\s-]{0,4}(?:please )?(?:press|hit|strike|push|tap)\b/i.test(line) && isAnyKey(line)));
  return asks && !printers.has(program() ?? '') ? line : '';
}

/** The question with what it is about, where that stands above it and is not the line that we typed around a command. */
function promptOf(kind: PromptKind, line: string, { above, program }: CursorView): string {
  if (kind === 'pager') return plain(`${program() ?? 'pager'}: ${shownBy(line, above)}`);
  const theirs = above.slice(above.findLastIndex((text) => text.includes(markerWord)) + 1);
  // A secret is named by its line: "[sudo] password for anna:", "(anna@host) Password:".
  const isShort = !secretKinds.has(kind) && isBare(line);
  const subject = kind === 'fingerprint' ? theirs.slice(-3) : isShort ? options(theirs) : [];
  return plain([...subject.filter((text) => text.trim() !== ''), line].join('\n'));
}

/** What a pager says of itself, or the last line it shows when that is next to nothing. */
function shownBy(line: string, above: readonly string[]): string {
  if (line !== ':' && line !== '(END)') return line;
  const last = above.findLast((text) => text.trim() !== '')?.slice(0, longestLabel) ?? '';
  return line === ':' ? last || line : `${last} ${line}`;
}

const isBare = (line: string): boolean => /^(?:#\?$|[[(])/.test(line);

/** A numbered list, or the line before. */
function options(above: readonly string[]): readonly string[] {
  const first = above.findLastIndex((text) => !/^\s*\d+[).] /.test(text)) + 1;
  return first < above.length ? above.slice(first) : above.slice(-1);
}

/** Safe to read: no control characters, no direction changes, no hidden text. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/gu, (char) => (char === '\n' ? char : '')).trim();
}
