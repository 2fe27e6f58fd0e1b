// Writes docs/reference from the catalogue and the settings. `npm run docs`; a test fails when it is stale.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib.mjs';

const { referencePages } = await import('../dist/reference.js');
const folder = join(root, 'docs', 'reference');
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(await referencePages())) writeFileSync(join(folder, name), text);
