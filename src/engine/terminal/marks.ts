/**
 * What shells and programs say about themselves between the lines of their output: prompts and commands (OSC 133 and
 * 633), directory, title, alternate screen. Found in the raw bytes, so nobody needs an emulator to know a command's end.
 */

export type MarkKind =
  /** Prompt starts, prompt ends, output starts, command finished. */
  | 'A'
  | 'B'
  | 'C'
  | 'D'
  /** Text of the command. */
  | 'E'
  /** Prompt ends and the command is what follows up to the end of the line: shells that cannot announce C. */
  | 'I'
  /** That end of the line. `value` is what was echoed before it. */
  | 'eol'
  /** A continuation or right prompt (`k=s`, `k=r`), or a property of the shell. */
  | 'P'
  | 'L'
  | 'N'
  | 'cwd'
  | 'title'
  | 'alt';

export interface Mark {
  readonly kind: MarkKind;
  /** Offsets of the sequence itself in the output: `to` is the first byte after it. */
  readonly from: number;
  readonly to: number;
  /** D: status. E: command. cwd: path. title: text. alt: `on` or `off`. Otherwise empty. */
  readonly value: string;
  readonly params: Readonly<Record<string, string>>;
  /** It carries this terminal's nonce, which no program but the shell we started has seen. */
  readonly trusted: boolean;
}

/** An OSC longer than this is not ours: give up rather than remember it. */
const oscLimit = 8192;
/** Private modes come in lists of a few numbers. */
const csiLimit = 64;
/** How much of an echoed line is kept as the command's text. */
const lineLimit = 4096;

const escape = 0x1b;
const bell = 0x07;
const oscStart = Buffer.from('\x1b]');
const privateStart = Buffer.from('\x1b[?');
const none: readonly Mark[] = [];
const noParams: Readonly<Record<string, string>> = Object.freeze({});

/** Kept between an I mark and the end of its line. */
export interface EchoedLine {
  readonly trusted: boolean;
  readonly params: Readonly<Record<string, string>>;
  /** One char per byte. */
  echoed: string;
}

export class MarkScanner {
  readonly #nonce: string | undefined;
  #found: Mark[] = [];
  /** The start of a sequence the last chunk ended in, and where it began. */
  #partial: Buffer = Buffer.alloc(0);
  #partialFrom = 0;
  #line: EchoedLine | undefined;

  constructor(options: { readonly nonce?: string | undefined; readonly line?: EchoedLine | undefined } = {}) {
    this.#nonce = options.nonce;
    this.#line = options.line && { ...options.line };
  }

  /** True between sequences: then the line below is all it remembers. */
  get atRest(): boolean {
    return this.#partial.length === 0;
  }

  /** The line being typed, for a scanner that goes on from here. */
  get line(): EchoedLine | undefined {
    return this.#line && { ...this.#line };
  }

  /** Marks that end in this chunk, in order. `at` is the offset of its first byte; the chunk is not kept. */
  scan(chunk: Uint8Array, at: number): readonly Mark[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#line === undefined && this.#partial.length === 0 && !mayHoldMarks(bytes)) return none;
    this.#found = [];
    this.#walk(bytes, at);
    return this.#found;
  }

  #walk(chunk: Buffer, at: number): void {
    let bytes = chunk;
    if (this.#partial.length > 0) {
      bytes = Buffer.concat([this.#partial, bytes]);
      at = this.#partialFrom;
      this.#partial = Buffer.alloc(0);
    }
    let position = 0;
    for (let start = nextEscape(bytes, 0); start !== -1; start = nextEscape(bytes, Math.max(position, start + 1))) {
      const next = bytes[start + 1];
      const isOsc = next === 0x5d;
      if (!isOsc && next !== undefined && (next !== 0x5b || !mayBePrivate(bytes[start + 2]))) continue;
      this.#lineUpTo(bytes, position, start, at);
      const end = isOsc ? oscEnd(bytes, start + 2) : privateEnd(bytes, start);
      position = start;
      if (end === undefined) return this.#keep(bytes, start, at);
      if (isOsc) this.#osc(bytes, start, end, at);
      else this.#private(bytes, start, end, at);
      position = end;
    }
    this.#lineUpTo(bytes, position, bytes.length, at);
  }

  #keep(bytes: Buffer, start: number, at: number): void {
    this.#partial = Buffer.from(bytes.subarray(start));
    this.#partialFrom = at + start;
  }

  #osc(bytes: Buffer, start: number, end: number, at: number): void {
    const first = bytes[start + 2];
    // 0, 1…, 2, 6…, 7, 9: everything else cannot be ours, and a flood of hyperlinks (8) should cost nothing.
    if (first === undefined || first === 0x38 || first < 0x30 || first > 0x39) return;
    const mark = parseOsc(oscText(bytes, start + 2, end), this.#nonce);
    if (mark === undefined) return;
    const placed: Mark = { ...mark, from: at + start, to: at + end };
    if (placed.kind === 'I') this.#line = { trusted: placed.trusted, params: placed.params, echoed: '' };
    else if ('ABCD'.includes(placed.kind) && (placed.trusted || this.#line?.trusted !== true)) this.#line = undefined;
    this.#found.push(placed);
  }

  #private(bytes: Buffer, start: number, end: number, at: number): void {
    const final = bytes[end - 1];
    if ((final !== 0x68 && final !== 0x6c) || !switchesScreen(bytes, start + 3, end - 1)) return;
    const value = final === 0x68 ? 'on' : 'off';
    this.#found.push({ kind: 'alt', from: at + start, to: at + end, value, params: noParams, trusted: false });
  }

  #lineUpTo(bytes: Buffer, from: number, to: number, at: number): void {
    const line = this.#line;
    if (line === undefined) return;
    for (let index = from; index < to; index++) {
      const byte = bytes[index] ?? 0;
      // Line editors wrap a long line with CR LF of their own, to which the terminal driver adds another CR.
      if (byte === 0x0a && !line.echoed.endsWith('\r\r')) {
        this.#line = undefined;
        const value = Buffer.from(line.echoed, 'latin1').toString('utf8').replaceAll('\r\r\n', '');
        this.#found.push({
          kind: 'eol',
          from: at + index,
          to: at + index + 1,
          value,
          params: line.params,
          trusted: line.trusted,
        });
        return;
      }
      line.echoed =
        line.echoed.length < lineLimit
          ? line.echoed + String.fromCharCode(byte)
          : line.echoed.slice(1) + String.fromCharCode(byte);
    }
  }
}

/** Where an OSC ends, terminator included; undefined while it may still come. Like the emulator, any ESC ends it. */
function oscEnd(bytes: Buffer, from: number): number | undefined {
  const limit = Math.min(bytes.length, from + oscLimit);
  for (let index = from; index < limit; index++) {
    const byte = bytes[index];
    if (byte === bell || byte === 0x18 || byte === 0x1a) return index + 1;
    if (byte !== escape) continue;
    if (index + 1 === bytes.length) return undefined;
    return bytes[index + 1] === 0x5c ? index + 2 : index;
  }
  return limit === from + oscLimit ? limit : undefined;
}

/** Where `ESC [ ? …` ends; undefined while it may still come, or may still become one. */
function privateEnd(bytes: Buffer, start: number): number | undefined {
  const from = start + 3;
  const limit = Math.min(bytes.length, from + csiLimit);
  for (let index = from; index < limit; index++) {
    const byte = bytes[index] ?? 0;
    if (byte >= 0x40 && byte <= 0x7e) return index + 1;
    if (byte === escape || byte === 0x18 || byte === 0x1a) return index;
  }
  return limit === from + csiLimit ? limit : undefined;
}

const mayBePrivate = (byte: number | undefined): boolean => byte === 0x3f || byte === undefined;

/** Any of 1049, 1047, 47 in a list of modes, read without making strings: full-screen programs send thousands a second. */
function switchesScreen(bytes: Buffer, from: number, to: number): boolean {
  let mode = 0;
  for (let index = from; index <= to; index++) {
    const digit = index === to ? -1 : (bytes[index] ?? 0) - 0x30;
    if (digit >= 0 && digit <= 9) {
      mode = mode * 10 + digit;
      continue;
    }
    if (mode === 1049 || mode === 1047 || mode === 47) return true;
    mode = 0;
  }
  return false;
}

/**
 * False when all its sequences are ordinary ones. Coloured text holds thousands of them; single bytes that most of it does
 * not hold are found many times faster.
 */
function mayHoldMarks(bytes: Buffer): boolean {
  if (bytes.includes(0x5d) && bytes.includes(oscStart)) return true;
  if (bytes.includes(0x3f) && bytes.includes(privateStart)) return true;
  const last = bytes.at(-1);
  return last === escape || (last === 0x5b && bytes.at(-2) === escape);
}

/** Near ones are found faster by looking, far ones by asking. */
function nextEscape(bytes: Buffer, from: number): number {
  const near = Math.min(bytes.length, from + 64);
  for (let index = from; index < near; index++) if (bytes[index] === escape) return index;
  return near === bytes.length ? -1 : bytes.indexOf(escape, near);
}

/** The text between introducer and terminator. Control characters inside do not count, as in the emulator. */
function oscText(bytes: Buffer, from: number, end: number): string | undefined {
  const last = bytes[end - 1];
  if (last === 0x18 || last === 0x1a) return undefined;
  if (end - from >= oscLimit) return undefined;
  const to = last === bell ? end - 1 : last === 0x5c && bytes[end - 2] === escape ? end - 2 : end;
  return bytes.toString('utf8', from, to).replace(/[\0-\x1f]/g, '');
}

type Found = Omit<Mark, 'from' | 'to'>;

function parseOsc(text: string | undefined, nonce: string | undefined): Found | undefined {
  if (text === undefined) return undefined;
  const semicolon = text.indexOf(';');
  if (semicolon === -1) return undefined;
  const rest = text.slice(semicolon + 1);
  switch (text.slice(0, semicolon)) {
    case '133':
    case '633':
      return parseShellMark(rest, nonce);
    case '0':
    case '2':
      return { kind: 'title', value: rest, params: noParams, trusted: false };
    case '7':
      return parseLocation(rest);
    case '9':
      return rest.startsWith('9;') ? cwd(unquote(rest.slice(2)), '') : undefined;
    case '1337':
      return rest.startsWith('CurrentDir=') ? cwd(rest.slice('CurrentDir='.length), '') : undefined;
    default:
      return undefined;
  }
}

function parseShellMark(text: string, nonce: string | undefined): Found | undefined {
  const [letter = '', ...fields] = text.split(';');
  if (!/^[ABCDEILNP]$/.test(letter)) return undefined;
  const kind = letter as MarkKind;
  let value = '';
  if (kind === 'E' || (kind === 'D' && fields[0]?.includes('=') === false)) value = fields.shift() ?? '';
  const params: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const field of fields) {
    const equals = field.indexOf('=');
    if (equals > 0) params[field.slice(0, equals)] = field.slice(equals + 1);
  }
  const trusted = nonce !== undefined && nonce !== '' && params['fl'] === nonce;
  // The nonce goes no further than this file.
  delete params['fl'];
  if (kind === 'E') value = unescapeCommand(value);
  if (kind === 'C' && params['cmdline_url'] !== undefined) value = percentDecode(params['cmdline_url']);
  return { kind, value, params, trusted };
}

/** `\xNN` and `\\`, as OSC 633 E writes what would end or split the sequence. */
function unescapeCommand(text: string): string {
  return text.replace(/\\(?:\\|x([0-9a-fA-F]{2}))/g, (_, hex: string | undefined) =>
    hex === undefined ? '\\' : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

function parseLocation(url: string): Found | undefined {
  const match = /^(?:file|kitty-shell-cwd):\/\/([^/]*)(\/.*)$/s.exec(url);
  if (match === null) return undefined;
  const path = match[2] ?? '/';
  return cwd(url.startsWith('file') ? percentDecode(path) : path, match[1] ?? '');
}

const cwd = (path: string, host: string): Found => ({
  kind: 'cwd',
  value: path,
  params: host === '' ? noParams : { host },
  trusted: false,
});

const unquote = (text: string): string => text.replace(/^"(.*)"$/s, '$1');

/** Byte-wise, so that a path that is not UTF-8 or holds a stray `%` still comes through. */
function percentDecode(text: string): string {
  if (!text.includes('%')) return text;
  const parts = text.split(/((?:%[0-9a-fA-F]{2})+)/);
  return parts
    .map((part, index) => (index % 2 === 0 ? part : Buffer.from(part.replaceAll('%', ''), 'hex').toString('utf8')))
    .join('');
}
