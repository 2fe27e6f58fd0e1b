import { build, install } from './lib.mjs';

install();
build({ fresh: process.argv.includes('--fresh') });
