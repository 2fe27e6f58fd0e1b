import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const pieceBytes = 1 << 20;

/** How often a text stands in the memory of a process that this one has started, as UTF-8 or as UTF-16. */
export function copiesInMemory(pid: number, text: string): number {
  return copiesOf(pid, Buffer.from(text)) + copiesOf(pid, Buffer.from(text, 'utf16le'));
}

function copiesOf(pid: number, wanted: Buffer): number {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    let found = 0;
    for (const [from, to] of writableRanges(pid)) found += copiesBetween(memory, from, to, wanted);
    return found;
  } finally {
    closeSync(memory);
  }
}

function writableRanges(pid: number): [from: number, to: number][] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      return from === '' ? [] : [[Number.parseInt(from, 16), Number.parseInt(to, 16)] as [number, number]];
    });
}

function copiesBetween(memory: number, from: number, to: number, wanted: Buffer): number {
  const piece = Buffer.alloc(pieceBytes);
  let found = 0;
  for (let at = from; at < to; at += pieceBytes - wanted.length + 1) {
    let length = 0;
    try {
      length = readSync(memory, piece, 0, Math.min(pieceBytes, to - at), at);
    } catch {
      // A page that cannot be read holds nothing of ours.
      continue;
    }
    const read = piece.subarray(0, length);
    for (let hit = read.indexOf(wanted); hit !== -1; hit = read.indexOf(wanted, hit + 1)) found += 1;
  }
  return found;
}
