import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import type { Engine } from '../../../src/engine/engine.ts';
import { EchoChannel } from '../../support/echo-channel.ts';
import { engineWith, limit } from '../../support/engine.ts';
import { forged } from '../../support/reading.ts';

const size = { cols: 80, rows: 24 };
const ours = (): never => {
  throw new RangeError('mine');
};

function start(channel: EchoChannel, release = (): void => {}): { readonly engine: Engine; readonly logged: string[] } {
  const logged: string[] = [];
  const openers = { echo: async () => ({ channel, program: 'echo', release }) };
  return { engine: engineWith(tmpdir(), openers, { log: (line) => logged.push(line) }), logged };
}

test.each(['block', 'state'] as const)('a listener of %s that throws at the end ends nothing else', async (which) => {
  const channel = new EchoChannel(size, { echo: false });
  const { engine, logged } = start(channel);
  await using _engine = engine;
  const terminal = await engine.open({ target: 'echo', size }, limit());
  // A command runs until the end.
  channel.say(forged('C'));
  await expect.poll(() => terminal.blocks.state).toBe('running');
  const states: string[] = [];
  terminal.state.changed.on((state) => states.push(state));
  if (which === 'block') terminal.blocks.events.on(ours);
  else terminal.state.changed.on(ours);
  channel.end({ by: 'exit', code: 3 });
  expect(await terminal.whenEnded).toEqual({ by: 'exit', code: 3 });
  expect(states).toEqual(['exited']);
  expect(logged).toMatchObject([/incident .* in the (marks|state) of terminal/]);
  await expect(terminal.input.send(Buffer.from('x'), 'test', limit())).rejects.toMatchObject({
    code: 'terminal_exited',
  });
  await terminal[Symbol.asyncDispose]();
  await terminal.whenDisposed;
  expect(engine.terminals).toEqual([]);
});

test('a far side that fails to end is told of, and its terminal is gone all the same', async () => {
  const channel = new EchoChannel(size, { echo: false });
  channel[Symbol.asyncDispose] = async () => ours();
  const { engine } = start(channel);
  await using _engine = engine;
  const terminal = await engine.open({ target: 'echo', size }, limit());
  await expect(terminal[Symbol.asyncDispose]()).rejects.toThrow('mine');
  await terminal.whenDisposed;
  expect(engine.terminals).toEqual([]);
});

test('a listener that throws when a terminal is closed keeps it from no other listener', async () => {
  const channel = new EchoChannel(size, { echo: false });
  const { engine, logged } = start(channel, ours);
  await using _engine = engine;
  const closed: string[] = [];
  engine.events.on(({ kind }) => kind === 'closed' && ours());
  engine.events.on(({ kind }) => void closed.push(kind));
  const terminal = await engine.open({ target: 'echo', size }, limit());
  await terminal[Symbol.asyncDispose]();
  await terminal.whenDisposed;
  expect([engine.terminals, closed]).toEqual([[], ['opened', 'state', 'closed']]);
  expect(logged).toHaveLength(2);
});
