import { plainText } from '../../lib/plain-text.ts';

/**
 * Names, titles, commands and output are untrusted; none of it may act on the terminal it is shown on.
 * Every text in an answer, names of fields too, with only what can be seen and the ends of lines left in.
 */
export function cleanAnswer<T>(answer: T): T;
export function cleanAnswer(answer: unknown): unknown {
  if (typeof answer === 'string') return plainText(answer.replaceAll('\r\n', '\n')).text;
  if (Array.isArray(answer)) return answer.map((one: unknown) => cleanAnswer(one));
  if (typeof answer !== 'object' || answer === null) return answer;
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [cleanAnswer(name), cleanAnswer<unknown>(value)]),
  );
}

/** The same JSON with everything escaped that cannot be seen: JSON itself escapes only what is below the space. */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null, null, 2);
  return `${text.replaceAll(risky, asJson)}\n`;
}

const asJson = (risk: string): string =>
  risk.replace(/[^]/g, (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, '0')}`);

// Without the flag `u`: what is beyond U+FFFF is escaped as the two halves that JSON writes it in.
const risky =
  /[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udfff]/g;
