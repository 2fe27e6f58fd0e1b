import { plainText } from '../../engine/plain-text.ts';

/**
 * Names, titles, commands and output are whatever somebody put there; none of it may work on the terminal it is shown on.
 * Every text in an answer, names of fields too, with only what can be seen and the ends of lines left in.
 */
export function clean<T>(answer: T): T;
export function clean(answer: unknown): unknown {
  if (typeof answer === 'string') return plainText(answer.replaceAll('\r\n', '\n')).text;
  if (Array.isArray(answer)) return answer.map((one: unknown) => clean(one));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, value]) => [clean(name), clean<unknown>(value)]));
}

/** The same JSON with everything escaped that a terminal might act on: JSON itself escapes only what is below the space. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null, null, 2);
  return `${text.replaceAll(risky, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

const risky = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
