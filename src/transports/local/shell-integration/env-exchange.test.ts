import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { EnvExchange } from './env-exchange.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-exchange-'));
  folders.push(folder);
  return folder;
}

test('a server that goes on with a shell counts on where the one before it stopped', () => {
  const folder = folderOf();
  const taken = new EnvExchange(folder, 'bash').queue({ A: '1' });
  expect(taken()).toBe(false);
  rmSync(join(folder, 'in.1'));
  expect(taken()).toBe(true);
  // The shell waits for the second by now, and would never see another first.
  new EnvExchange(folder, 'bash').queue({ A: '2' });
  expect(readdirSync(folder).toSorted()).toEqual(['in.2', 'queued']);
});

test('what the shell told before it was asked anew is not taken for the answer', () => {
  const folder = folderOf();
  const exchange = new EnvExchange(folder, 'bash');
  const tell = (text: string): void => writeFileSync(join(folder, 'env'), text);
  exchange.follow();
  expect(exchange.read()).toBeUndefined();
  tell('A=1\0\0');
  expect(exchange.read()?.variables.get('A')).toBe('1');
  exchange.renew();
  expect(exchange.fresh()).toBeUndefined();
  tell('A=2\0B=');
  expect(exchange.fresh()).toBeUndefined();
  expect(exchange.read()?.variables.get('A')).toBe('1');
  tell('A=2\0B=\0\0');
  expect(exchange.read()?.variables.get('A')).toBe('2');
});
