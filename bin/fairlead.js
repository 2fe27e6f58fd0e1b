#!/usr/bin/env node
import { fileURLToPath } from 'node:url';

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`fairlead needs Node 20.19 or newer; this is ${process.version}.\n`);
  process.exit(1);
}
try {
  await import('../dist/bundle/main.js');
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  const here = fileURLToPath(new URL('..', import.meta.url));
  process.stderr.write(`fairlead is not built yet. Run once: npm start, or npm run build, in ${here}\n`);
  process.exit(1);
}
