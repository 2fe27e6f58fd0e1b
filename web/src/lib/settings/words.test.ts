import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sectionNames } from './section-names.ts';

const web = join(import.meta.dirname, '..', '..');
const english = JSON.parse(readFileSync(join(web, '..', '..', 'assets', 'lang', 'en.json'), 'utf8')) as Record<
  string,
  string
>;

test('assets/lang/en.json has every word of the settings pages as they say it, and no other', () => {
  const folder = join(web, 'parts', 'settings');
  const sources = [...readdirSync(folder).map((file) => join(folder, file)), join(web, 'pages', 'Settings.svelte')];
  const used = new Map<string, string>(Object.entries(sectionNames).map(([id, name]) => [`section_${id}`, name]));
  for (const source of sources) {
    const text = readFileSync(source, 'utf8');
    for (const [, key = '', , said = ''] of text.matchAll(/\bword\(\s*'(\w+)',\s*(['"`])((?:(?!\2).)*)\2/g)) {
      expect(used.get(key) ?? said, key).toBe(said);
      used.set(key, said);
    }
  }
  expect(used.size).toBeGreaterThan(60);
  expect(english).toEqual({ language: 'English', ...Object.fromEntries(used) });
});
