import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openStateRoot, requireOwn } from '../../engine/instances/state-root.ts';
import { distrust, isOwnFolder, keepsOurs, removeOwnFolder } from './trusted-path.ts';

const isRoot = process.getuid?.() === 0;
const stranger = 65_534;

let at: string;
beforeEach(() => {
  at = mkdtempSync(join(tmpdir(), 'fairlead-trust-'));
});
afterEach(() => rmSync(at, { recursive: true, force: true }));

function folder(name: string, mode: number, owner?: number): string {
  const path = join(at, name);
  mkdirSync(path);
  chmodSync(path, mode);
  if (owner !== undefined) chownSync(path, owner, owner);
  return path;
}

describe('a state root', () => {
  test('of our own is trusted, also where it is not there yet', () => {
    expect(distrust(folder('mine', 0o700))).toBeUndefined();
    expect(distrust(folder('readable', 0o755))).toBeUndefined();
    expect(distrust(join(at, 'none', 'yet'))).toBeUndefined();
  });

  test('that others can write to is refused with what to do', () => {
    const open = folder('open', 0o777);
    expect(() => requireOwn(open)).toThrow(/others can write to .* \(mode 777\)/);
    expect(() => openStateRoot(open, { mustWrite: false })).toThrow(/cannot be trusted/);
    expect(distrust(folder('group', 0o770))).toContain('others can write');
  });

  test('below a directory that everybody can write to is refused, below a sticky one it is not', () => {
    const shared = folder('shared', 0o777);
    mkdirSync(join(shared, 'home'), { mode: 0o700 });
    expect(distrust(join(shared, 'home'))).toContain('everybody can replace');
    expect(distrust(join(shared, 'later'))).toContain('everybody can replace');
    chmodSync(shared, 0o1777);
    expect(distrust(join(shared, 'home'))).toBeUndefined();
  });

  test.runIf(isRoot)('of another user is refused, root included: its scripts would run as us', () => {
    const theirs = folder('theirs', 0o755, stranger);
    expect(distrust(theirs)).toContain(`belongs to user ${stranger}`);
    mkdirSync(join(theirs, 'home'), { mode: 0o700 });
    expect(distrust(join(theirs, 'home'))).toContain('could replace');
    symlinkSync(join(theirs, 'home'), join(at, 'link'));
    expect(distrust(join(at, 'link'))).toContain('could replace');
  });

  test.runIf(isRoot)('behind a link of another user is refused: tomorrow it may point elsewhere', () => {
    const mine = folder('mine', 0o700);
    mkdirSync(join(mine, 'home'), { mode: 0o700 });
    const shared = folder('shared', 0o1777);
    const link = join(shared, 'link');
    symlinkSync(mine, link);
    expect(distrust(link)).toBeUndefined();
    lchownSync(link, stranger, stranger);
    for (const path of [link, join(link, 'home'), join(link, 'later')]) {
      expect(distrust(path), path).toContain(`a link of user ${stranger}`);
    }
  });
});

test('a folder that is removed is a directory of ours alone, never one behind a link', () => {
  const mine = folder('mine', 0o700);
  const file = join(mine, 'file');
  writeFileSync(file, '');
  const link = join(at, 'link');
  symlinkSync(mine, link);
  removeOwnFolder(link);
  expect([existsSync(link), existsSync(file)]).toEqual([true, true]);
  const readable = folder('readable', 0o755);
  removeOwnFolder(readable);
  expect(existsSync(readable)).toBe(true);
  removeOwnFolder(mine);
  expect(existsSync(mine)).toBe(false);
});

test.runIf(isRoot)('a folder of another user is not ours, whatever its mode', () => {
  expect(isOwnFolder(folder('theirs', 0o700, stranger))).toBe(false);
});

test('folders of ours are kept in directories of our own and in sticky ones', () => {
  expect(keepsOurs(folder('mine', 0o700))).toBe(true);
  expect(keepsOurs(folder('sticky', 0o1777))).toBe(true);
  expect(keepsOurs(folder('open', 0o777))).toBe(false);
  expect(keepsOurs(join(at, 'none'))).toBe(false);
  if (isRoot) expect(keepsOurs(folder('theirs', 0o755, stranger))).toBe(false);
});
