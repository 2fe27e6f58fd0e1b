import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  lchownSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
  chownSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../src/system/package-root.ts';
import { listRecordings, removeRecording } from '../../src/engine/recording/library.ts';
import { recoverRecordings } from '../../src/engine/recording/recover.ts';
import { integrate } from '../../src/transports/local/shell-integration/index.ts';
import { tempDir } from '../support/recording.ts';

/** What another user of the machine can lay in a directory that both may write to. */
const isRoot = process.getuid?.() === 0;
const victim = 65_534;
const attacker = 65_533;
const deadPid = Number(execFileSync('sh', ['-c', 'echo $$']).toString());

describe('a shared directory', () => {
  test('the sweep of old shell folders leaves links and what they point to alone', async () => {
    await using dir = await tempDir();
    const precious = join(dir.path, 'precious');
    mkdirSync(precious, { mode: 0o700 });
    writeFileSync(join(precious, 'file'), '');
    const shared = join(dir.path, 'run');
    mkdirSync(shared, { mode: 0o700 });
    const link = join(shared, `fairlead-${deadPid}-${'a'.repeat(24)}`);
    symlinkSync(precious, link);
    const old = join(shared, `fairlead-${deadPid}-${'b'.repeat(24)}`);
    mkdirSync(old, { mode: 0o700 });
    const launch = { shell: '/bin/bash', args: [], env: { XDG_RUNTIME_DIR: shared } };
    const started = integrate(launch, { root: join(dir.path, 'home'), nonce: 'n' });
    expect(started.session).toContain(shared);
    expect(existsSync(join(precious, 'file'))).toBe(true);
    expect([existsSync(link), existsSync(old)]).toEqual([true, false]);
    started.cleanup();
    expect(existsSync(started.session as string)).toBe(false);
  });

  test('a runtime directory in which others can replace folders is not used', async () => {
    await using dir = await tempDir();
    const open = join(dir.path, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    const launch = { shell: '/bin/bash', args: [], env: { XDG_RUNTIME_DIR: open } };
    const started = integrate(launch, { root: join(dir.path, 'home'), nonce: 'n' });
    expect(started.session).toBeDefined();
    expect(started.session).not.toContain(open);
    started.cleanup();
  });

  test.runIf(isRoot)('removing a link that may not be unlinked does not empty the directory it points to', async () => {
    await using dir = await tempDir();
    chmodSync(dir.path, 0o755);
    const precious = join(dir.path, 'precious');
    mkdirSync(precious, { mode: 0o700 });
    writeFileSync(join(precious, 'file'), '');
    for (const path of [precious, join(precious, 'file')]) chownSync(path, victim, victim);
    const shared = join(dir.path, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    const link = join(shared, 'terminal-1-00000000000000aa.cast');
    symlinkSync(precious, link);
    lchownSync(link, attacker, attacker);
    const code = readFileSync(new URL('dist/system/files/remove-file.js', packageRoot), 'utf8');
    const script = `${code}\nremoveFileSync(${JSON.stringify(link)});`;
    const options = { uid: victim, gid: victim, cwd: '/', env: {} };
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options);
    expect(stderr.toString()).toContain('EPERM');
    expect(existsSync(join(precious, 'file'))).toBe(true);
  });

  test('a part file that is a link, a pipe or a directory is no recording to recover', async () => {
    await using dir = await tempDir();
    const target = join(dir.path, 'target.txt');
    writeFileSync(target, '{"version":2,"width":80,"height":24}\nnot a line of a cast\n');
    const recordings = join(dir.path, 'recordings');
    mkdirSync(recordings);
    symlinkSync(target, join(recordings, '.terminal-1-00000000000000aa.cast.part'));
    execFileSync('mkfifo', [join(recordings, 'terminal-2-00000000000000bb.cast')]);
    mkdirSync(join(recordings, 'terminal-3-00000000000000cc.cast'));
    expect(await listRecordings(recordings)).toEqual([]);
    expect(await recoverRecordings(recordings, { force: true })).toEqual([]);
    await expect(removeRecording(recordings, '00000000000000bb')).rejects.toThrow('not found');
    expect(readFileSync(target, 'utf8')).toContain('not a line');
  });

  test('facts beside a recording that are a pipe, a device or too long are not read', async () => {
    await using dir = await tempDir();
    const names = ['terminal-1-00000000000000aa', 'terminal-2-00000000000000bb', 'terminal-3-00000000000000cc'];
    const [pipe, device, long] = names.map((name) => join(dir.path, `${name}.meta.json`)) as [string, string, string];
    for (const name of names) writeFileSync(join(dir.path, `${name}.cast`), '{"version":2,"width":80,"height":24}\n');
    execFileSync('mkfifo', [pipe]);
    symlinkSync('/dev/zero', device);
    writeFileSync(long, `{"startTime":1,"x":"${'x'.repeat(2 << 20)}"}`);
    const late = delay(10_000, undefined, { ref: false });
    const listed = await Promise.race([listRecordings(dir.path), late]);
    // Lets a reader go that waits for the pipe.
    closeSync(openSync(pipe, constants.O_RDWR));
    expect(listed?.map(({ metadata }) => metadata)).toEqual([{}, {}, {}]);
  });
});
