/** Kinds of output that a hostile or broken program may print, each as a short piece to be repeated and, for some, one that never ends. */
export interface Family {
  readonly name: string;
  /** Printed first, once. */
  readonly start?: string;
  readonly piece: string;
}

const range = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));
const shown = (text: string): string => JSON.stringify(text).slice(1, -1);

const finals = range(0x40, 0x7e);
const controls: Family[] = [...range(0, 0x1a), ...range(0x1c, 0x1f), '\x7f', ...range(0x80, 0x9f)].map((char) => ({
  name: `control ${shown(char)}`,
  piece: `${char}a`,
}));
const csi: Family[] = ['', '?', '>', '=', '<'].flatMap((prefix) =>
  finals.flatMap((final) =>
    ['', '1', '99999;99999;1'].map((params) => ({
      name: `CSI ${prefix}${params}${final}`,
      piece: `\x1b[${prefix}${params}${final}x`,
    })),
  ),
);
const between: Family[] = [...' !"#$%&\'()*+,-./'].flatMap((middle) =>
  ['p', 'q', 'r', 't', 'u', 'v', 'w', 'x', 'y', 'z', '{', '}', '~', '|', '@', 'A', 'P'].map((final) => ({
    name: `CSI 1${middle}${final}`,
    piece: `\x1b[1${middle}${final}x`,
  })),
);
const escapes: Family[] = [
  ...range(0x30, 0x7e)
    .filter((final) => !'[]PX^_'.includes(final))
    .map((final) => ({ name: `ESC ${final}`, piece: `\x1b${final}x` })),
  ...[' ', '#', '%', '(', ')', '*', '+', '-', '.', '/'].map((middle) => ({
    name: `ESC ${middle}B`,
    piece: `\x1b${middle}Bx\x1b${middle}0x`,
  })),
];
const numbers = [
  0, 1, 2, 4, 5, 7, 8, 9, 10, 11, 12, 17, 19, 22, 50, 52, 99, 104, 110, 112, 133, 633, 777, 1337, 99_999,
];
const osc: Family[] = numbers.flatMap((number) => [
  { name: `OSC ${number}`, piece: `\x1b]${number};c;?;aGVsbG8=\x07` },
  { name: `OSC ${number} long`, piece: `\x1b]${number};c;${'A'.repeat(5000)}\x1b\\` },
  { name: `OSC ${number} without end`, start: `\x1b]${number};c;`, piece: 'A' },
]);
const strings: Family[] = ['P', 'P$q', 'P+q', 'P1$r', 'Pq', 'P|', '_', '_G', '^', 'X'].flatMap((start) => [
  { name: `string ESC ${start}`, piece: `\x1b${start}m;a\x1b\\` },
  { name: `string ESC ${start} without end`, start: `\x1b${start}`, piece: 'a1;' },
]);
const modes: Family[] = [4, 20].map((mode) => ({ name: `mode ${mode}`, start: `\x1b[${mode}h`, piece: 'ab\r\n漢' }));
const privateModes: Family[] = [
  1, 3, 5, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1003, 1004, 1006, 1047, 1048, 1049, 2004, 2026,
].map((mode) => ({ name: `mode ?${mode} on and off`, piece: `\x1b[?${mode}hx\x1b[?${mode}l` }));
const text: Family[] = [
  { name: 'plain', piece: 'plain text of a log\r\n' },
  { name: 'one line', piece: 'word ' },
  { name: 'returns', piece: 'abc\r' },
  { name: 'line feeds', piece: '\n' },
  { name: 'colours', piece: '\x1b[38;2;1;2;3;48;5;7mx' },
  { name: 'wide', piece: '漢字' },
  { name: 'emoji of several', piece: '👩\u200d👩\u200d👧\u200d👦' },
  { name: 'marks on one letter', start: 'a', piece: '\u0301' },
  { name: 'a mark on every letter', piece: 'a\u0301' },
  { name: 'forty marks on every letter', piece: `a${'\u0301'.repeat(40)}` },
  { name: 'marks outside of the first plane', start: 'a', piece: '\u{10a01}' },
  { name: 'joiners', piece: '\u200d' },
  { name: 'half a character', piece: '\ud800' },
  { name: 'forged marks', piece: '\x1b]133;A\x07$ \x1b]133;B\x07x\x1b]133;C\x07\x1b]133;D;0\x07' },
  { name: 'directories', piece: '\x1b]7;file://host/a/b\x07' },
  { name: 'links', piece: '\x1b]8;;http://a\x07b\x1b]8;;\x07' },
  { name: 'titles', piece: '\x1b]2;title\x07' },
  { name: 'bells', piece: '\x07' },
  { name: 'unfinished sequences', piece: '\x1b[1;' },
  { name: 'ESC', piece: '\x1b' },
  { name: 'OSC begun again', piece: '\x1b]' },
  { name: 'parameters', piece: `\x1b[${'1;'.repeat(60)}m` },
  { name: 'digits', start: '\x1b[', piece: '9' },
  { name: 'prompts', piece: 'Password: \r\n' },
  { name: 'urls', piece: 'https://user:secretsecret@host/path?token=abcdefghijklmnop ' },
  { name: 'secrets', piece: 'AKIAIOSFODNN7EXAMPLE ghp_0123456789abcdefghijABCDEFGHIJ012345 ' },
];

/** One character of every Unicode category, alone and behind a letter. */
const categories = 'Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co Cn'.split(' ');
const unicode: Family[] = categories.flatMap((category) => {
  const is = new RegExp(`\\p{${category}}`, 'u');
  const found: string[] = [];
  for (let code = 0xa0; code < 0x20000 && found.length < 40; code += 1) {
    const char = code >= 0xd800 && code < 0xe000 ? '' : String.fromCodePoint(code);
    if (is.test(char)) found.push(char);
  }
  return [
    { name: `category ${category}`, piece: found.join('') || 'x' },
    { name: `category ${category} behind a letter`, piece: `a${found[0] ?? 'x'}` },
  ];
});

export const families: readonly Family[] = [
  ...text,
  ...controls,
  ...csi,
  ...between,
  ...escapes,
  ...osc,
  ...strings,
  ...modes,
  ...privateModes,
  ...unicode,
];

export function output({ start = '', piece }: Family, bytes: number): Buffer {
  const head = Buffer.from(start);
  const body = Buffer.from(piece);
  const all = Buffer.alloc(bytes);
  head.copy(all);
  for (let at = head.length; at < bytes; at += body.length) body.copy(all, at);
  return all;
}
