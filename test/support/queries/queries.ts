/** What a program can print to ask its terminal something. */
export interface Query {
  readonly name: string;
  readonly ask: string;
  /** What this terminal answers; nothing where it answers nothing. */
  readonly answer?: RegExp;
}

const csi = (name: string, body: string, answer?: RegExp): Query =>
  answer ? { name, ask: `\x1b[${body}`, answer } : { name, ask: `\x1b[${body}` };
const osc = (name: string, body: string, answer?: RegExp): Query =>
  answer ? { name, ask: `\x1b]${body}\x07`, answer } : { name, ask: `\x1b]${body}\x07` };
const dcs = (name: string, body: string, answer?: RegExp): Query =>
  answer ? { name, ask: `\x1bP${body}\x1b\\`, answer } : { name, ask: `\x1bP${body}\x1b\\` };

const ansiModes = [2, 4, 12, 20];
const privateModes = [1, 3, 6, 7, 12, 25, 47, 1000, 1002, 1003, 1004, 1006, 1047, 1049, 2004, 2026, 2027, 2031];
const settings = ['m', 'r', 's', ' q', '"p', '"q', 't', '$|'];
const color = /rgb:[0-9a-f]{4}\/[0-9a-f]{4}\/[0-9a-f]{4}/;

/** The 68 kinds of queries that this terminal or any other answers. */
export const queries: readonly Query[] = [
  csi('DA1', 'c', /\x1b\[\?[\d;]+c/),
  csi('DA1 with a parameter', '0c', /\x1b\[\?[\d;]+c/),
  csi('DA2', '>c', /\x1b\[>[\d;]+c/),
  csi('DA3', '=c', /\x1bP!\|[0-9A-F]+\x1b\\/),
  { name: 'DECID', ask: '\x1bZ' },
  { name: 'ENQ', ask: '\x05' },
  csi('DSR, status', '5n', /\x1b\[0n/),
  csi('DSR, cursor', '6n', /\x1b\[\d+;\d+R/),
  csi('DECXCPR', '?6n', /\x1b\[\?\d+;\d+R/),
  csi('DSR, printer', '?15n'),
  csi('DSR, keys defined by the user', '?25n'),
  csi('DSR, keyboard', '?26n'),
  csi('DSR, locator', '?55n'),
  csi('DSR, macro space', '?62n'),
  csi('DSR, checksum of memory', '?63;1n'),
  csi('DSR, colour scheme', '?996n'),
  csi('DECREQTPARM', 'x'),
  csi('DECRQCRA', '1;1;1;1;2;2*y'),
  csi('XTVERSION', '>q', /\x1bP>\|Fairlead\x1b\\/),
  csi('kitty keyboard', '?u'),
  csi('XTQMODKEYS', '?4m'),
  csi('XTSMGRAPHICS', '?1;1;0S'),
  csi('window state', '11t'),
  csi('window position', '13t'),
  csi('size in pixels', '14t', /\x1b\[4;\d+;\d+t/),
  csi('size of the screen in pixels', '15t'),
  csi('size of a cell', '16t', /\x1b\[6;\d+;\d+t/),
  csi('size in characters', '18t', /\x1b\[8;24;80t/),
  csi('size of the screen in characters', '19t'),
  csi('icon label', '20t'),
  csi('title', '21t'),
  ...ansiModes.map((mode) => csi(`DECRQM ${mode}`, `${mode}$p`, /\x1b\[\d+;\d\$y/)),
  ...privateModes.map((mode) => csi(`DECRQM ?${mode}`, `?${mode}$p`, /\x1b\[\?\d+;\d\$y/)),
  ...settings.map((setting) => dcs(`DECRQSS ${setting}`, `$q${setting}`, /\x1bP[01]\$r/)),
  dcs('XTGETTCAP', '+q544e'),
  osc('palette', '4;1;?', color),
  osc('foreground', '10;?', color),
  osc('background', '11;?', color),
  osc('cursor colour', '12;?', color),
  osc('highlight', '17;?'),
  osc('clipboard', '52;c;?'),
];
