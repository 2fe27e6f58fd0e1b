import { best, interleave, percentile } from '../lib/measure.mjs';
import { never } from '../lib/product.mjs';

export const order = 70;
export const name = 'type a command, read its result';
export const bar = {
  'vs tmux send-keys + capture-pane': { atMost: 0.06 },
  'vs tmux control mode': { atMost: 1 },
};

const shell = ['bash', '--norc', '--noprofile', '-i'];

/** `echo r$((21*2))` at a shell's prompt, until `r42` stands on the screen. */
export async function run(bench) {
  const commands = bench.pick(200, 5);
  const product = await bench.product();
  const { typeText } = await bench.load('engine/input/typing');
  const tmux = await bench.tmux();
  const control = bench.own(await tmux.control());
  const terminal = await product.open(shell);
  const pane = await tmux.open(shell);
  const contenders = {
    ours: ourSide(typeText, terminal),
    control: controlSide(control, pane),
    processes: processSide(tmux, pane),
  };
  let number = 1000;
  const median = async (ask) => {
    const times = [];
    for (let i = 0; i < commands; i++) {
      number++;
      const began = performance.now();
      await ask(`echo r$((${number}*2))`, `r${number * 2}`);
      times.push(performance.now() - began);
      // Past the prompt that follows, so that every command finds an idle shell.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return percentile(times, 0.5);
  };
  // A server that has run for a while has compiled what it uses; a terminal multiplexer came compiled.
  for (let i = 0; i < bench.pick(3, 0); i++) for (const ask of [contenders.ours, contenders.control]) await median(ask);
  const results = await interleave(
    bench.rounds,
    Object.fromEntries(Object.entries(contenders).map(([who, ask]) => [who, () => median(ask)])),
  );
  const [ours, controlled, processes] = [best(results.ours), best(results.control), best(results.processes)];
  const show = (theirs) => `${ours.toFixed(2)} ms, tmux ${theirs.toFixed(2)} ms`;
  return {
    'vs tmux send-keys + capture-pane': { value: ours / processes, detail: show(processes) },
    'vs tmux control mode': { value: ours / controlled, detail: show(controlled) },
  };
}

function ourSide(typeText, terminal) {
  return async (command, result) => {
    const watching = terminal.feed.parseEagerly();
    const seen = new Promise((resolve) => {
      const listening = terminal.output.on(() => {
        const { viewportTop, cursor } = terminal.screen.facts;
        const from = Math.max(viewportTop, viewportTop + cursor.y - 3);
        if (!terminal.screen.rowTexts(from).some(({ text }) => text === result)) return;
        listening[Symbol.dispose]();
        resolve();
      });
    });
    await typeText(terminal, command, { by: 'bench', paste: false, submit: true }, never);
    await seen;
    watching[Symbol.dispose]();
  };
}

function controlSide(control, pane) {
  return async (command, result) => {
    let output = '';
    const seen = new Promise((resolve) => {
      control.onOutput = (from, text) => {
        if (from !== pane) return;
        output += text;
        if (output.includes(`${result}\\015\\012`)) resolve();
      };
    });
    await Promise.all([control.command(`send-keys -t ${pane} '${command}' Enter`), seen]);
  };
}

function processSide(tmux, pane) {
  return async (command, result) => {
    await tmux.run('send-keys', '-t', pane, command, 'Enter');
    while (!(await tmux.text(pane)).split('\n').includes(result));
  };
}
