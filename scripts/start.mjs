// Fresh clone to running: npm start
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { build, install, root } from './lib.mjs';

install();
build();
const child = spawn(process.execPath, [join(root, 'bin', 'fairlead.js'), 'serve', ...process.argv.slice(2)], {
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => process.exit(signal ? 1 : (code ?? 1)));
