import fc from 'fast-check';
import { expect, test } from 'vitest';
import { frontMatter } from './front-matter.ts';

/** The double-quoted form of YAML 1.2, of which JSON's strings are a part: printable characters only, the rest escaped. */
const quoted =
  /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\ud800-\udbff][\udc00-\udfff]|\\["\\/bfnrt]|\\u[0-9a-f]{4})*"$/;

const anyText = fc.array(fc.nat({ max: 0x10ffff }), { maxLength: 40 }).map((codes) => String.fromCodePoint(...codes));

test('any text is one valid YAML scalar, and comes back (R-RPC-072)', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const [, line = '', ...rest] = frontMatter({ project_path: text }).split('\n');
      expect(rest).toEqual(['---', '']);
      const value = line.replace(/^project_path: /, '');
      expect(value).toMatch(quoted);
      expect(JSON.parse(value)).toBe(text.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
    }),
    { examples: [['---\nkey: value'], ['"quoted" \\ # \t'], ['\u2028\u0085\ufeff\x7f'], ['\ud800']] },
  );
  expect(frontMatter({ a: null, b: 1, c: true, d: ['x', 'y: z'] })).toBe(
    '---\na: null\nb: 1\nc: true\nd: ["x", "y: z"]\n---\n',
  );
});
