import { createCore, parseBytes } from './core.ts';

/** Letters that name the emulator's character sets, as in `ESC ( 0`. Those that are missing look like one that is there. */
const letters = '0A4CRQKYEZH=';
/** Plain ASCII: the emulator has no table for it. */
const ascii = 'B';

let known: ReadonlyMap<string, string> | undefined;

/** The letter of a set, by the emulator's table for it. Compared by what it holds: one that was kept as bytes is a copy. */
export function charsetLetter(table: unknown): string {
  if (table === undefined || table === null) return ascii;
  known ??= readTables();
  return known.get(JSON.stringify(table)) ?? ascii;
}

function readTables(): ReadonlyMap<string, string> {
  const core = createCore({ cols: 2, rows: 1 }, 0);
  const tables = Array.from(letters, (letter): [string, string] => {
    parseBytes(core, Buffer.from(`\x1b(${letter}`));
    return [JSON.stringify(core._charsetService._charsets[0]), letter];
  });
  core.dispose();
  return new Map(tables);
}
