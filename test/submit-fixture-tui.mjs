// Behaves like an input box of an agent's TUI: asks for bracketed paste, draws its own line, submits on Enter, and
// takes an Enter that comes too soon after other keys for a part of a paste (argument: for how many milliseconds).
// As `busy` it never asks for bracketed paste, reads only now and then, and takes what it reads at once for one text.
import { appendFileSync } from 'node:fs';

const [, , swallowMs = '0', log = '', kind = ''] = process.argv;
const busy = kind === 'busy';
let text = '';
let submitted = 0;
let lastKey = 0;
let paste;

const draw = () => {
  const lines = text.split(/\r?\n|\r/);
  process.stdout.write(`\x1b[2J\x1b[Hsubmitted: ${submitted}\x1b[3;1H> ${lines.join('\r\n  ')}`);
};

process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  const pieces = busy ? [bytes.toString()] : bytes.toString().split(/(\x1b\[20[01]~|\r|\x03)/);
  for (const part of pieces) {
    if (part === '') continue;
    if (part === '\x03') process.exit(0);
    else if (part === '\x1b[200~') paste = '';
    else if (part === '\x1b[201~') {
      text += paste ?? '';
      paste = undefined;
      lastKey = performance.now();
    } else if (paste !== undefined) paste += part;
    else if (part === '\r') {
      if (performance.now() - lastKey < Number(swallowMs)) continue;
      submitted++;
      if (log) appendFileSync(log, `${JSON.stringify(text)}\n`);
      text = '';
    } else {
      text += part;
      lastKey = performance.now();
    }
  }
  draw();
});
if (busy) setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250), 20);
else process.stdout.write('\x1b[?2004h');
draw();
