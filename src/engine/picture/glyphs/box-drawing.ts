import type { MaskPainter } from './mask.ts';

/**
 * U+2500–257F as arms from the middle: left, up, right, down; 0 none, 1 light, 2 heavy, 3 double. Written four digits a
 * character, sixteen characters a line. Dashes are here as the whole line they interrupt; `0000` stands for arcs and
 * diagonals, which are curves.
 */
const arms = [
  '1010 2020 0101 0202 1010 2020 0101 0202 1010 2020 0101 0202 0011 0021 0012 0022',
  '1001 2001 1002 2002 0110 0120 0210 0220 1100 2100 1200 2200 0111 0121 0211 0112',
  '0212 0221 0122 0222 1101 2101 1201 1102 1202 2201 2102 2202 1011 2011 1021 2021',
  '1012 2012 1022 2022 1110 2110 1120 2120 1210 2210 1220 2220 1111 2111 1121 2121',
  '1211 1112 1212 2211 1221 2112 1122 2221 2122 2212 1222 2222 1010 2020 0101 0202',
  '3030 0303 0031 0013 0033 3001 1003 3003 0130 0310 0330 3100 1300 3300 0131 0313',
  '0333 3101 1303 3303 3031 1013 3033 3130 1310 3330 3131 1313 3333 0000 0000 0000',
  '0000 0000 0000 0000 1000 0100 0010 0001 2000 0200 0020 0002 1020 0102 2010 0201',
].flatMap((line) => line.split(' '));

/** How many dashes a line is cut into; the rest of the block is unbroken. */
const dashes: Readonly<Record<number, number>> = {
  0x2504: 3,
  0x2505: 3,
  0x2506: 3,
  0x2507: 3,
  0x2508: 4,
  0x2509: 4,
  0x250a: 4,
  0x250b: 4,
  0x254c: 2,
  0x254d: 2,
  0x254e: 2,
  0x254f: 2,
};

/** Draws one character of U+2500–257F so that it meets its neighbours at the edges of the cell. */
export function paintBox(painter: MaskPainter, code: number, scale: number): void {
  if (code >= 0x256d && code <= 0x2570) return paintArc(painter, code, scale);
  if (code >= 0x2571 && code <= 0x2573) return paintDiagonal(painter, code, scale);
  const [left = 0, up = 0, right = 0, down = 0] = (arms[code - 0x2500] ?? '').split('').map(Number);
  const dash = dashes[code];
  if (dash !== undefined) return paintDashes(painter, dash, left > 0 ? left : up, left > 0, scale);
  const { width, height } = painter;
  for (const bar of armBars({ arm: left, opposite: right, before: up, after: down }, width, height, scale)) {
    painter.rect(0, bar.from, bar.end, bar.to);
  }
  for (const bar of armBars({ arm: right, opposite: left, before: up, after: down }, width, height, scale)) {
    painter.rect(mirrored(bar.end, width, scale), bar.from, width, bar.to);
  }
  for (const bar of armBars({ arm: up, opposite: down, before: left, after: right }, height, width, scale)) {
    painter.rect(bar.from, 0, bar.to, bar.end);
  }
  for (const bar of armBars({ arm: down, opposite: up, before: left, after: right }, height, width, scale)) {
    painter.rect(bar.from, mirrored(bar.end, height, scale), bar.to, height);
  }
}

/** The pixels a light line through the middle of `extent` takes: [from, to). */
function middle(extent: number, scale: number): { from: number; to: number } {
  const from = (extent - scale) >> 1;
  return { from, to: from + scale };
}

/** How far the rails of a double line stand from where a light line would be. */
const railGap = (scale: number): number => Math.max(scale, Math.round(scale * 1.5));
/** What a heavy line adds on each side of a light one. */
const heavySide = (scale: number): number => Math.max(1, Math.round(scale / 2));

/** A place measured from the far edge instead of the near one, kept symmetrical about the light line. */
function mirrored(end: number, extent: number, scale: number): number {
  const { from, to } = middle(extent, scale);
  return from + to - end;
}

interface Arms {
  readonly arm: number;
  readonly opposite: number;
  /** The arms across, on the side of smaller and of larger coordinates. */
  readonly before: number;
  readonly after: number;
}

/** The bars of one arm: across from `from` to `to`, along from the cell's edge to `end`. */
function armBars(
  arms: Arms,
  along: number,
  across: number,
  scale: number,
): { from: number; to: number; end: number }[] {
  const { arm, before, after } = arms;
  if (arm === 0) return [];
  const { from, to } = middle(across, scale);
  if (arm !== 3) {
    const side = arm === 2 ? heavySide(scale) : 0;
    return [{ from: from - side, to: to + side, end: singleEnd(arms, along, scale) }];
  }
  const gap = railGap(scale);
  return [
    { from: from - gap, to: to - gap, end: railEnd(before, after, along, scale) },
    { from: from + gap, to: to + gap, end: railEnd(after, before, along, scale) },
  ];
}

function singleEnd({ opposite, before, after }: Arms, along: number, scale: number): number {
  const { from, to } = middle(along, scale);
  const gap = railGap(scale);
  if (before === 3 || after === 3) {
    if (opposite > 0) return to;
    return before > 0 && after > 0 ? from - gap + scale : to + gap;
  }
  return to + (before === 2 || after === 2 ? heavySide(scale) : 0);
}

/** A rail stops at the near rail of a double line on its own side, and goes round the corner of one on the other. */
function railEnd(own: number, other: number, along: number, scale: number): number {
  const { from, to } = middle(along, scale);
  const gap = railGap(scale);
  if (own === 3) return from - gap + scale;
  return other === 3 ? to + gap : to;
}

function paintDashes(painter: MaskPainter, count: number, weight: number, flat: boolean, scale: number): void {
  const { width, height } = painter;
  const extent = flat ? width : height;
  const { from, to } = middle(flat ? height : width, scale);
  const side = weight === 2 ? heavySide(scale) : 0;
  for (let index = 0; index < count; index++) {
    const start = Math.round((extent * (index + 0.2)) / count);
    const end = Math.max(start + 1, Math.round((extent * (index + 0.8)) / count));
    if (flat) painter.rect(start, from - side, end, to + side);
    else painter.rect(from - side, start, to + side, end);
  }
}

/** ╭ ╮ ╯ ╰: a quarter circle that ends exactly on the light lines, and a straight rest. */
function paintArc(painter: MaskPainter, code: number, scale: number): void {
  const { width, height } = painter;
  const h = middle(height, scale);
  const v = middle(width, scale);
  const toRight = code === 0x256d || code === 0x2570;
  const toDown = code === 0x256d || code === 0x256e;
  const midX = (v.from + v.to) / 2;
  const midY = (h.from + h.to) / 2;
  const radius = Math.min(width - midX, midX);
  const centreX = midX + (toRight ? radius : -radius);
  const centreY = midY + (toDown ? radius : -radius);
  painter.inside((x, y) => {
    const dx = toRight ? centreX - x : x - centreX;
    const dy = toDown ? centreY - y : y - centreY;
    if (dx < 0 || dy < 0) return -1;
    return scale / 2 - Math.abs(Math.hypot(dx, dy) - radius);
  });
  if (toRight) painter.rect(Math.ceil(centreX), h.from, width, h.to);
  else painter.rect(0, h.from, Math.floor(centreX), h.to);
  if (toDown) painter.rect(v.from, Math.ceil(centreY), v.to, height);
  else painter.rect(v.from, 0, v.to, Math.floor(centreY));
}

function paintDiagonal(painter: MaskPainter, code: number, scale: number): void {
  const { width, height } = painter;
  const length = Math.hypot(width, height);
  const rising = (x: number, y: number): number => Math.abs(height * x + width * y - width * height) / length;
  const falling = (x: number, y: number): number => Math.abs(height * x - width * y) / length;
  if (code !== 0x2572) painter.inside((x, y) => scale / 2 - rising(x, y));
  if (code !== 0x2571) painter.inside((x, y) => scale / 2 - falling(x, y));
}
