// node-pty, and xterm fed by it as everybody does: on data, write.
import { createRequire } from 'node:module';
import { env, scrollback, size } from '../lib/setting.mjs';

const require = createRequire(import.meta.url);

function load() {
  try {
    return require('@lydell/node-pty');
  } catch {
    return undefined;
  }
}
const pty = load();
export const available = pty !== undefined;

export function spawn([program, ...args], encoding = 'utf8') {
  return pty.spawn(program, args, { ...size, env, encoding, name: env.TERM });
}

/** How many bytes of a program's output arrive. */
export function countBytes(argv) {
  return new Promise((resolve) => {
    const child = spawn(argv, null);
    let bytes = 0;
    child.onData((data) => {
      bytes += data.length;
    });
    child.onExit(() => setTimeout(() => resolve(bytes), 50));
  });
}

/** Runs a program on an emulator; calls back after each parsed piece of output. */
export function openScreen(argv, onParsed) {
  const { Terminal } = require('@xterm/headless');
  const terminal = new Terminal({ ...size, scrollback, allowProposedApi: true });
  const child = spawn(argv);
  child.onData((data) => terminal.write(data, () => onParsed(terminal)));
  return {
    ended: new Promise((resolve) => child.onExit(resolve)),
    [Symbol.asyncDispose]: async () => terminal.dispose(),
  };
}
