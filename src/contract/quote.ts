const most = 100;

/** A caller's text as an error repeats it: enough to recognise it. */
export const quote = (text: string): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

const longestCommand = 300;

/** Enough of a command to recognise it. */
export const shortCommand = (command: string): string =>
  command.length <= longestCommand ? command : `${command.slice(0, longestCommand - 1).toWellFormed()}…`;

/** Controls a terminal, changes the direction of text, or is invisible. */
const unseen =
  /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Surrogate}]/gu;

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Text in one line, with every character that cannot be seen escaped as JSON and JavaScript do it. */
export const visible = (text: string): string => text.replace(unseen, (one) => short[one] ?? escaped(one));

/** The same with the ends of lines and tabs left as they are. */
export const visibleLines = (text: string): string =>
  text.replace(unseen, (one) => (one === '\n' || one === '\t' ? one : (short[one] ?? escaped(one))));

/** The same for every string in some facts, names included. Only plain objects and lists are changed. */
export function visibleFacts<T>(facts: T): T;
export function visibleFacts(facts: unknown): unknown {
  if (typeof facts === 'string') return visibleLines(facts);
  if (Array.isArray(facts)) return facts.map((one: unknown) => visibleFacts(one));
  if (typeof facts !== 'object' || facts === null || Object.getPrototypeOf(facts) !== Object.prototype) return facts;
  return Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [visible(name), visibleFacts<unknown>(value)] as const),
  );
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
}
