// What programs print by the megabyte, the same in every run.
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { size } from './setting.mjs';

const blockBytes = 1 << 20;
const makers = { plain, log, tui, unicode };
export const kinds = Object.keys(makers);
/** The last line of every flood: whoever shows it has taken in everything before it. */
export const lastLine = 'the flood is over';

/** Made once a run. */
export function floodFile(kind, megabytes, folder) {
  const file = join(folder, `${kind}-${megabytes}.flood`);
  if (existsSync(file)) return file;
  const random = randomFrom(kind.length);
  const parts = [];
  let bytes = 0;
  while (bytes < blockBytes) {
    const part = makers[kind](random, parts.length);
    parts.push(part);
    bytes += Buffer.byteLength(part);
  }
  const block = Buffer.from(parts.join(''));
  const blocks = Array.from({ length: Math.max(1, Math.round((megabytes * blockBytes) / block.length)) }, () => block);
  const [begin, end] = kind === 'tui' ? ['\x1b[?1049h\x1b[H\x1b[2J', '\x1b[?1049l'] : ['', '\x1b[0m'];
  writeFileSync(file, Buffer.concat([Buffer.from(begin), ...blocks, Buffer.from(`${end}\n${lastLine}\n`)]));
  return file;
}

/** A build's output: paths, words, numbers; most lines short, a few longer than the screen is wide. */
function plain(random) {
  const words = Array.from({ length: random.chance(0.05) ? 30 : 4 + random.below(9) }, () => random.of(vocabulary));
  return `${random.of(tools)} src/${random.of(vocabulary)}/${random.of(vocabulary)}.c:${random.below(900)}: ${words.join(' ')}\n`;
}

/** A server's log as a person sees it: dim time, coloured level, a colour for each name, now and then an id of any colour. */
function log(random, line) {
  const [level, color] = random.of(levels);
  const time = new Date(Date.UTC(2031, 4, 1) + line * 137).toISOString();
  const name = random.below(vocabulary.length);
  const words = Array.from({ length: 3 + random.below(8) }, () => random.of(vocabulary)).join(' ');
  const tail = random.chance(0.2)
    ? ` \x1b[38;2;${16 * random.below(16)};160;${16 * random.below(16)}mid=${random.below(1e6).toString(16)}\x1b[0m`
    : '';
  const middle = `\x1b[38;5;${17 + 8 * name}m${vocabulary[name]}\x1b[39m ${words}`;
  return `\x1b[2m${time}\x1b[0m \x1b[${color}m${level}\x1b[0m ${middle} \x1b[36m${random.below(1000)}ms\x1b[0m${tail}\n`;
}

/** A screen full of meters and a table, painted over and over: mostly whole frames, some of a few changed cells. */
function tui(random) {
  if (random.chance(0.3)) {
    return Array.from({ length: 12 }, () => {
      const place = `\x1b[${1 + random.below(size.rows)};${1 + random.below(size.cols - 10)}H`;
      return `${place}\x1b[${31 + random.below(7)};1m${random.below(100)}.${random.below(10)}%\x1b[0m`;
    }).join('');
  }
  const rows = ['\x1b[H\x1b[7m htop-like \x1b[0m\x1b[K'];
  for (let row = 2; row <= 6; row++) {
    const full = random.below(60);
    const meter = `\x1b[32m${'|'.repeat(full)}\x1b[0m${' '.repeat(60 - full)}`;
    rows.push(`\x1b[${row};1H\x1b[36m${row}\x1b[1m[${meter}\x1b[1m${full}%\x1b[0m]\x1b[K`);
  }
  rows.push(`\x1b[7;1H├${'─'.repeat(size.cols - 2)}┤`);
  for (let row = 8; row <= size.rows; row++) {
    const chosen = row === 8 + random.below(30);
    const columns = `${String(random.below(99999)).padStart(6)} root \x1b[33m${random.below(100)}.${random.below(10)}\x1b[39m`;
    const command = `${random.of(tools)} --${random.of(vocabulary)} \x1b[1m${random.of(vocabulary)}\x1b[22m`;
    rows.push(
      `\x1b[${row};1H${chosen ? '\x1b[7m' : ''}│ ${columns} │ ${command}\x1b[K${chosen ? '\x1b[0m' : ''}\x1b[${row};${size.cols}H│`,
    );
  }
  return rows.join('');
}

/** Text of many scripts, with accents as marks of their own, emoji and joined emoji. */
function unicode(random) {
  return `${Array.from({ length: 4 + random.below(8) }, () => random.of(scripts)).join(' ')}\n`;
}

const vocabulary =
  'alpha build cache delta engine fetch graph handler index journal kernel layout memory network output parser queue render session terminal update vector worker yield zone'.split(
    ' ',
  );
const tools = ['cc', 'ld', 'node', 'cargo', 'make', 'rustc', 'ninja'];
const levels = [
  ['INFO ', '32'],
  ['INFO ', '32'],
  ['DEBUG', '34'],
  ['WARN ', '33;1'],
  ['ERROR', '31;1'],
];
const scripts = [
  'Übergrößenträger',
  'naïveté',
  'mañana',
  'Кириллица',
  'съешь же ещё',
  'Ελληνικά',
  '終端機',
  '日本語の端末',
  '터미널',
  'שלום',
  'नमस्ते',
  'ไทย',
  'e\u0301te\u0301',
  '→ ✓ ✗ …',
  '“quotes” — dash',
  '┌─┬─┐',
  '🚀',
  '🎉🎊',
  '👩‍💻',
  '👍🏽',
  '🇪🇺',
  '数据 42%',
];

/** Small, quick and always the same. */
function randomFrom(seed) {
  let state = (seed * 2654435761) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  return { below, chance: (share) => next() < share, of: (list) => list[below(list.length)] };
}
