import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { answerLine } from './answer-line.ts';

let root: string;
let script: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'fairlead-line-'));
  mkdirSync(join(root, 'it’s here'));
  script = join(root, 'it’s here', "fair'lead.js");
  writeFileSync(script, 'console.log(JSON.stringify(process.argv.slice(2)))');
});
afterEach(() => rmSync(root, { recursive: true }));

/** A directory for the PATH with a program of this name. */
function folder(name: string, ...parts: string[]): string {
  const path = join(root, ...parts);
  mkdirSync(path, { recursive: true });
  if (name !== '') symlinkSync(name === 'node' ? process.execPath : script, join(path, name));
  return path;
}

const line = (PATH: string, home = join(root, '.fairlead')): string =>
  answerLine({ env: { PATH, HOME: root }, home, script, platform: 'linux' });

/** What a shell makes of it. */
const words = (text: string): unknown => JSON.parse(execFileSync('sh', ['-c', text], { encoding: 'utf8' }));

test('`fairlead` where the person has it on the PATH', () => {
  expect(line(`${folder('', 'a')}:${folder('fairlead', 'b')}`)).toBe('fairlead answer');
});

test('the path of the program where `fairlead` is not on the PATH, quoted for a shell', () => {
  const bare = line(folder('', 'a'));
  expect(bare.startsWith(`${process.execPath} '${root}`)).toBe(true);
  expect(words(bare)).toEqual(['answer']);
  const named = line(folder('node', 'b'));
  expect(named.startsWith("node '")).toBe(true);
  expect(words(named)).toEqual(['answer']);
});

test('another program of the name, and a directory only npm adds, do not count', () => {
  const other = folder('', 'other');
  writeFileSync(join(other, 'fairlead'), '#!/bin/sh\n');
  chmodSync(join(other, 'fairlead'), 0o755);
  expect(line(`${other}:${folder('fairlead', 'b')}`)).not.toBe('fairlead answer');
  expect(line(folder('fairlead', '_npx', '1f', 'node_modules', '.bin'))).not.toBe('fairlead answer');
});

test('with the state directory where it is not the usual one', () => {
  const home = join(root, 'my state');
  expect(line(folder('fairlead', 'b'), home)).toBe(`fairlead answer --home '${home}'`);
  expect(words(line(folder('node', 'c'), home))).toEqual(['answer', '--home', home]);
});
