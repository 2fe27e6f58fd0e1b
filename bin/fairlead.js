#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`fairlead needs Node 20.19 or newer; this is ${process.version}.\n`);
  process.exit(1);
}
await import('../dist/bundle/main.js');
