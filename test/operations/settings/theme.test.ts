import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '@modelcontextprotocol/client';
import { call } from '../../../src/engine/call/call.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { watchEngine } from '../../../src/engine/events/watch.ts';
import { PersonSettings, personSettings } from '../../../src/engine/settings/settings.ts';
import { settingsBook } from '../../../src/operations/settings/index.ts';
import { ManualClock } from '../../support/clocks/manual.ts';
import { engineWith } from '../../support/engine.ts';
import { Served } from '../../support/served.ts';

const home = mkdtempSync(join(tmpdir(), 'fairlead-theme-'));
let served: Served;
let client: Client;
beforeAll(async () => {
  served = await Served.start();
  client = await served.connect();
});
afterAll(async () => {
  await client.close();
  await served[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

/** What a program in a new terminal is told when it asks for a colour. */
async function told(query: string): Promise<string> {
  const argv = [
    'sh',
    '-c',
    `stty raw -echo; printf '\\033]${query};?\\007'; head -c 24 | od -An -c | tr -d ' \\n'; exec sleep 60`,
  ];
  const opened = await client.callTool({ name: 'terminal_open', arguments: { argv } });
  const { terminal } = opened.structuredContent as { terminal: string };
  const waited = await client.callTool({
    name: 'terminal_wait',
    arguments: { terminal, regex: 'rgb:[0-9a-f/]+', timeoutMs: 10_000 },
  });
  expect(waited.isError, JSON.stringify(waited.content)).not.toBe(true);
  const read = await client.callTool({ name: 'terminal_read', arguments: { terminal, view: 'screen' } });
  await client.callTool({ name: 'terminal_close', arguments: { terminal } });
  return /rgb:[0-9a-f/]+/.exec((read.structuredContent as { text: string }).text)?.[0] ?? '';
}

test('R-RPC-142: programs in new sessions are told the colours of the theme, and screenshots have them', async () => {
  await served.fairlead(['theme', 'switch', 'daylight']);
  expect(await told('11')).toMatch(/^rgb:fdfd\/f6f6\/e3/);
  await served.fairlead(['theme', 'switch', 'classic']);
  expect(await told('11')).toMatch(/^rgb:0000\/0000\/00/);
  const picture = await client.callTool({ name: 'terminal_screenshot', arguments: {} });
  const image = (picture.content as { type: string; data?: string }[]).find(({ type }) => type === 'image');
  const { loadImage, createCanvas } = await import('@napi-rs/canvas');
  const drawn = await loadImage(Buffer.from(image?.data ?? '', 'base64'));
  const context = createCanvas(drawn.width, drawn.height).getContext('2d');
  context.drawImage(drawn, 0, 0);
  // The corner below the text.
  expect([...context.getImageData(drawn.width - 30, drawn.height - 30, 1, 1).data]).toEqual([0, 0, 0, 255]);
});

test('R-RPC-142: switching tells viewers the new colours, and only when they are new', async () => {
  const settings = new PersonSettings({ root: home, clock: new ManualClock(), warn: () => {} });
  await using engine = engineWith(home, {}, { parts: [[personSettings, () => settings]], theme: () => settings.theme });
  settings.themeChanged.on((theme) => engine.events.emit({ kind: 'theme', theme }));
  settings.follow();
  const gone = new AbortController();
  const items = watchEngine(engine, localPerson, gone.signal);
  expect((await items.next()).value).toMatchObject({ kind: 'all', theme: { name: 'standard' } });
  const { theme } = settingsBook.nouns;
  const context = { engine, caller: localPerson, signal: gone.signal };
  const next = items.next();
  for (const name of ['standard', 'midnight', 'midnight']) await call(theme?.['switch'] as never, { name }, context);
  expect((await next).value).toMatchObject({ kind: 'theme', theme: { name: 'midnight', background: '#1a1b26' } });
  const later = items.next();
  await call(theme?.['switch'] as never, { name: 'classic' }, context);
  expect((await later).value).toMatchObject({ kind: 'theme', theme: { name: 'classic' } });
  gone.abort();
  await settings[Symbol.asyncDispose]();
});
