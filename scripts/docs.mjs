// Writes docs/reference and test/surface from the catalogue and the settings. `npm run docs`; tests fail when they are stale.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { root } from './lib.mjs';

const { referencePages } = await import('../dist/reference.js');
const { surfaceFiles } = await import('../dist/surface.js');

function write(folder, files) {
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

const encoding = new Tiktoken(o200k);
write(join(root, 'docs', 'reference'), await referencePages());
write(join(root, 'test', 'surface'), await surfaceFiles((text) => encoding.encode(text).length));
