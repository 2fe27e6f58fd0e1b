import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../system/clock.ts';
import { PersonSettings } from './settings.ts';

test('a language is a code, never a path to another file of the state', async () => {
  const root = mkdtempSync(join(tmpdir(), 'fairlead-settings-'));
  try {
    await using settings = new PersonSettings({ root, clock: systemClock, warn: () => {} });
    settings.setTheme('daylight');
    expect(settings.languages.words('en')).toBeDefined();
    for (const code of ['../theme', 'en/../../theme', 'en\0', '.', '']) {
      expect(settings.languages.words(code)).toBeUndefined();
      expect(() => settings.setLang(code)).toThrow(/^There is no language/);
    }
    expect(settings.lang).toBe('en');
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
