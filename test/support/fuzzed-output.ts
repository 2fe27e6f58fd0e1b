/** Numbers that look random and are the same each time. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0 || 1;
  return () => {
    // Xorshift: good enough to choose by.
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}

const words = ['build', 'ok', 'näive', '日本語', '👩‍👩‍👧', '→', 'x'.repeat(150), '\t', 'e\u0301', ''];

/** Output as programs print it: text, colours, cursor movements, screens, titles; cut anywhere. */
export function fuzzedOutput(random: () => number): () => Buffer {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const number = (most: number): number => 1 + Math.floor(random() * most);
  const pieces: readonly (() => string)[] = [
    () => `${pick(words)} ${pick(words)}\r\n`,
    () => `${pick(words)} ${pick(words)}\r\n`,
    () => pick(words),
    () => `\x1b[${pick([0, 1, 3, 4, 7, 31, 42, 97])}m`,
    () => `\x1b[38;2;${number(255)};${number(255)};9m${pick(words)}`,
    () => `\x1b[${number(30)};${number(90)}H`,
    () => `\x1b[${number(5)}${pick(['A', 'B', 'C', 'D', 'K', 'P', '@', 'L', 'M', 'X'])}`,
    () => `\x1b[${number(5)};${10 + number(10)}r`,
    () => '\x1b[r',
    () => pick(['\x1b7', '\x1b8', '\x1b[J', '\x1b[1J', '\x1b[?25l', '\x1b[?25h', '\x1b[?7l', '\x1b[?7h']),
    () => (random() < 0.1 ? pick(['\x1b[?1049h', '\x1b[?1049l']) : '\n'),
    () => `\x1b]0;${pick(words)}\x07`,
    () => `${'='.repeat(number(200))}\r`,
    () => '\b\b',
  ];
  let rest: Buffer = Buffer.alloc(0);
  return () => {
    let text = '';
    while (text.length < 20 + random() * 400) text += pick(pieces)();
    const all = Buffer.concat([rest, Buffer.from(text)]);
    // Not at the end of a character or a sequence, unless by chance.
    const cut = Math.max(1, all.length - Math.floor(random() * 12));
    rest = all.subarray(cut);
    return all.subarray(0, cut);
  };
}
