/**
 * What shells and programs say about themselves between the lines of their output: prompts and commands (OSC 133 and
 * 633) and the directory. Found in the raw bytes, so no emulator is needed to know a command's end.
 */

type MarkKind =
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
  | 'cwd';

export interface Mark {
  readonly kind: MarkKind;
  /** Offsets of the sequence itself in the output: `to` is the first byte after it. */
  readonly from: number;
  readonly to: number;
  /** D: status. E: command. cwd: path. Otherwise empty. */
  readonly value: string;
  readonly params: Readonly<Record<string, string>>;
  /** It carries this terminal's nonce, which no program but the shell we started has seen. */
  readonly trusted: boolean;
}

/** An OSC longer than this is not ours: give up rather than remember it. */
const oscLimit = 8192;
/** How much of an echoed line is kept as the command's text. */
const lineLimit = 4096;

const escape = 0x1b;
const bell = 0x07;
const oscStart = Buffer.from('\x1b]');
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
      if (next !== undefined && next !== 0x5d) continue;
      this.#lineUpTo(bytes, position, start, at);
      const end = oscEnd(bytes, start + 2);
      position = start;
      if (end === undefined) return this.#keep(bytes, start, at);
      this.#osc(bytes, start, end, at);
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
    // 1…, 6…, 7, 9: everything else cannot be ours, and a flood of titles (0, 2) or hyperlinks (8) should cost nothing.
    if (first === undefined || !'1679'.includes(String.fromCharCode(first))) return;
    const mark = parseOsc(oscText(bytes, start + 2, end), this.#nonce);
    if (mark === undefined) return;
    const placed: Mark = { ...mark, from: at + start, to: at + end };
    if (placed.kind === 'I') this.#line = { trusted: placed.trusted, params: placed.params, echoed: '' };
    else if ('ABCD'.includes(placed.kind) && (placed.trusted || this.#line?.trusted !== true)) this.#line = undefined;
    this.#found.push(placed);
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

/**
 * False when all its sequences are ordinary ones. Coloured text holds thousands of them; single bytes that most of it does
 * not hold are found many times faster.
 */
function mayHoldMarks(bytes: Buffer): boolean {
  if (bytes.includes(0x5d) && bytes.includes(oscStart)) return true;
  return bytes.at(-1) === escape;
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
