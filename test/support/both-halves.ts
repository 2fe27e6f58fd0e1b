import type { ToolResult } from './mcp-client.ts';

/**
 * Some clients show a model only the text of an answer, others only its structure. What one half says the other must say, too:
 * the helpers here compare the two halves of a real answer.
 */

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text ?? '').join('\n');

/** As much as both halves take in a model's context. */
export const answerSize = (answer: ToolResult): number =>
  Buffer.byteLength(textOf(answer)) + Buffer.byteLength(JSON.stringify(answer.structuredContent ?? ''));

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

export interface Fact {
  readonly path: string;
  readonly value: unknown;
}

/** Every number, text and truth in a structure, by its path without the places in lists. */
export function factsOf(value: unknown, path = ''): Fact[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => factsOf(one, path));
  if (typeof value !== 'object' || value === null) return [{ path, value }];
  return Object.entries(value).flatMap(([name, one]) => factsOf(one, path === '' ? name : `${path}.${name}`));
}

/** How the words tell what the structure has as true, false or nothing; `undefined`: by not speaking of it. */
export type Wording = Readonly<Record<string, RegExp | undefined>>;

/** Each fact of the structure stands in the text. */
export function expectInText(
  tool: string,
  { structuredContent }: { structuredContent?: unknown },
  text: string,
  wording: Wording,
): void {
  for (const { path, value } of factsOf(structuredContent)) {
    const about = `${tool}: ${path} = ${JSON.stringify(value)} is not in the text`;
    const key = `${path}=${JSON.stringify(value)}`;
    if (key in wording || path in wording) {
      const words = key in wording ? wording[key] : wording[path];
      if (words !== undefined) must(words.test(text), about);
    } else if (typeof value === 'number') {
      must(numbersIn(text, path).includes(value), about);
    } else if (typeof value === 'string') {
      // A fact of several lines stands in one.
      const inWords = [
        value,
        JSON.stringify(value),
        value.replaceAll(/\s+/g, ' '),
        value.replaceAll(/\s*\n\s*/g, ' ⏎ '),
      ];
      must(
        inWords.some((words) => text.includes(words)),
        about,
      );
    } else {
      must(false, `${about}: say in the test how the text tells it`);
    }
  }
}

/** Numbers of a text. Times may be told in seconds. */
function numbersIn(text: string, path: string): number[] {
  const plain = [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(([number]) => Number(number));
  if (!path.endsWith('Ms')) return plain;
  const seconds = [...text.matchAll(/(\d+\.\d+) s\b/g)];
  return [
    ...plain,
    ...seconds.flatMap(([, number = '']) => {
      const places = number.length - number.indexOf('.') - 1;
      const unit = 10 ** (3 - places);
      const from = Math.round(Number(number) * 1000) - unit;
      return Array.from({ length: 2 * unit + 1 }, (_, i) => from + i);
    }),
  ];
}

/** Each id, number, handle and quoted text that the words bring before the output stands in the structure. */
export function expectInStructure(tool: string, text: string, structure: unknown): void {
  const own = text.split(/^<output \w+>$/m)[0] ?? '';
  const all = JSON.stringify(structure);
  const values = factsOf(structure).map(({ value }) => String(value));
  const seconds = new Set(
    factsOf(structure)
      .filter(({ path, value }) => path.endsWith('Ms') && typeof value === 'number')
      .flatMap(({ value }) => [1, 2].map((places) => ((value as number) / 1000).toFixed(places))),
  );
  for (const [word] of own.matchAll(/[\w./:-]*\d[\w./:-]*/g)) {
    const bare = word.replace(/[.,:]+$/, '');
    const parts = [bare, ...bare.split(/[x:]/)];
    const isThere = values.some((value) => value.includes(bare)) || seconds.has(bare) || all.includes(bare);
    const inParts = parts.slice(1).length > 1 && parts.slice(1).every((part) => values.includes(part));
    must(isThere || inParts, `${tool}: ${bare} is not in the structure`);
  }
  // What to do next is one sentence, the same in both.
  for (const [, sentence = ''] of own.matchAll(/^next: (.*)$/gm)) {
    must(values.includes(sentence), `${tool}: "${sentence}" is not in the structure`);
  }
}
