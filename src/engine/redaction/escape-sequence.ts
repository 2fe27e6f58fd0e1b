/** Just enough of the terminal's grammar to know where a control sequence ends and whether it moves the cursor. */

export const esc = 0x1b;
const bel = 0x07;
const cancel = 0x18;
const substitute = 0x1a;

/** Introducers of sequences that carry a string: DCS, SOS, OSC, PM, APC. */
const stringIntroducers = 'PX]^_';

/** Index just after the sequence whose ESC stands at `start`; -1 while its end has not arrived. */
export function escapeEnd(text: string, start: number): number {
  if (start + 1 >= text.length) return -1;
  const kind = text[start + 1] as string;
  if (kind === '[') return controlSequenceEnd(text, start + 2);
  if (stringIntroducers.includes(kind)) return stringEnd(text, start + 2);
  let at = start + 1;
  while (at < text.length && isIntermediate(text.charCodeAt(at))) at++;
  if (at >= text.length) return -1;
  const final = text.charCodeAt(at);
  // Anything else (a control, ESC again, a letter beyond ASCII) ends the sequence without being part of it.
  return final >= 0x30 && final <= 0x7e ? at + 1 : at;
}

export function carriesString(text: string, start: number): boolean {
  return stringIntroducers.includes(text[start + 1] ?? ' ');
}

/** True for sequences after which text lands somewhere else: a new line as far as reading goes. */
export function movesCursor(text: string, start: number, end: number): boolean {
  const kind = text[start + 1];
  const final = text[end - 1] as string;
  if (kind === '[')
    return 'ABEFGHdfru'.includes(final) || (final === 'J' && end - start > 3) || isModeSwitch(text, start, end);
  return kind !== undefined && '78cDEM'.includes(kind);
}

/** True for a move to the first column, as a full-screen program makes it after filling a row. */
export function movesToFirstColumn(text: string, start: number, end: number): boolean {
  if (text[start + 1] !== '[' || !'Hf'.includes(text[end - 1] as string)) return false;
  const column = text.slice(start + 2, end - 1).split(';')[1] ?? '';
  return column === '' || column === '0' || column === '1';
}

function isModeSwitch(text: string, start: number, end: number): boolean {
  const final = text[end - 1];
  return (final === 'h' || final === 'l') && /^\?(?:47|104[79])$/.test(text.slice(start + 2, end - 1));
}

function controlSequenceEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x40 && code <= 0x7e) return at + 1;
    if (code < 0x20 || code > 0x7e) return code === cancel || code === substitute ? at + 1 : at;
  }
  return -1;
}

function stringEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === bel || code === cancel || code === substitute) return at + 1;
    if (code === esc) {
      if (at + 1 >= text.length) return -1;
      return text[at + 1] === '\\' ? at + 2 : at;
    }
  }
  return -1;
}

function isIntermediate(code: number): boolean {
  return code >= 0x20 && code <= 0x2f;
}
