/** Characters that take two columns, and none: first and last of each range. */
const wide = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe4f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f900, 0x1faff],
  [0x20000, 0x3fffd],
] as const;
const none = [
  [0x0300, 0x036f],
  [0x200b, 0x200f],
  [0x20d0, 0x20ff],
  [0xfe00, 0xfe0f],
  [0x1f3fb, 0x1f3ff],
] as const;

const isIn = (ranges: readonly (readonly [number, number])[], code: number): boolean =>
  ranges.some(([first, last]) => code >= first && code <= last);

/** How many columns text without controls takes. Near enough to tell whether it fills a row. */
export function columnsOf(text: string): number {
  let columns = text.length;
  for (let at = 0; at < text.length; at++) {
    if (text.charCodeAt(at) < 0x300) continue;
    const code = text.codePointAt(at) as number;
    if (code > 0xffff) {
      columns--;
      at++;
    }
    if (isIn(none, code)) columns--;
    else if (isIn(wide, code)) columns++;
  }
  return columns;
}
