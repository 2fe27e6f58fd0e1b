import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical findings of axe on a page. */
export async function axeFaults(page: Page): Promise<string[]> {
  // As a string: the policy of the page does not bind the debugger.
  const found = await page.evaluate<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }>(
    `${source}; axe.run(document, { resultTypes: ['violations'] })`,
  );
  return found.violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 200)).join(' | ')}`);
}

export const looks = [
  ['dark', 1280, 900],
  ['light', 1280, 900],
  ['dark', 390, 844],
  ['light', 390, 844],
] as const;
