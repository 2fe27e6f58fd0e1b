/**
 * The room for a text in an answer: a number of bytes the caller asked for, or a limit on the text plus its JSON form. An
 * answer is shown to a model as words, as JSON, or as both.
 */
export type Room = { readonly bytes: number } | { readonly answer: number };

/** Words and JSON of an answer together. Clients cut or put aside what is longer than about 12,000 characters. */
export const answerBytes = 10 << 10;
/** Shorter text is useless. */
const least = 512;

/** Bytes a text takes as words and as JSON. */
const bothBytes = (text: string): number => Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(text));

export const hasRoom = (room: Room, text: string): boolean =>
  'bytes' in room ? Buffer.byteLength(text) <= room.bytes : bothBytes(text) <= room.answer;

/** The largest piece that `cut` makes and that fits. */
export function largest<T>(room: Room, cut: (maxBytes: number) => T, textOf: (piece: T) => string): T {
  if ('bytes' in room) return cut(room.bytes);
  let maxBytes = Math.max(least, room.answer >> 1);
  for (;;) {
    const piece = cut(maxBytes);
    const bytes = bothBytes(textOf(piece));
    if (bytes <= room.answer || maxBytes === least) return piece;
    maxBytes = Math.max(least, Math.min(maxBytes - 16, Math.floor((maxBytes * room.answer) / bytes)));
  }
}

/** The room an answer has for text besides its facts. In words they take no more than in JSON. */
export function roomBeside(facts: unknown): Room {
  return { answer: Math.max(2 * least, answerBytes - spare - 2 * Buffer.byteLength(JSON.stringify(facts))) };
}

/** For what only the cut brings: counts, a handle and how to use it, in both halves, and the fence around the text. */
const spare = 1000;
