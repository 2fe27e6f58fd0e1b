import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { integrate } from '../../../../src/transports/local/shell-integration/index.ts';
import { ShellSession } from '../../../support/shells/integration-session.ts';

const scratch = mkdtempSync(join(tmpdir(), 'fairlead-startup-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe('R-RPC-160 start-up files', () => {
  it('bash reads the login files for a login shell, else .bashrc', async () => {
    const files = { '.bashrc': 'echo rc\n', '.bash_profile': 'echo profile\n', '.profile': 'echo never\n' };
    await using login = await ShellSession.open({ shell: 'bash', files, login: true });
    await login.prompt();
    expect(login.raw).toContain('profile\r\n');
    expect(login.raw).not.toMatch(/never|rc\r\n/);
    await using plainly = await ShellSession.open({ shell: 'bash', files });
    await plainly.prompt();
    expect(plainly.raw).toContain('rc\r\n');
    expect(plainly.raw).not.toContain('profile\r\n');
  });

  it('R-TERM-101 zsh reads all four files in order and keeps the ZDOTDIR of the user', async () => {
    const files = Object.fromEntries(
      ['.zshenv', '.zprofile', '.zshrc', '.zlogin'].map((name) => [name, `echo "read ${name} $ZDOTDIR"\n`]),
    );
    await using login = await ShellSession.open({ shell: 'zsh', files, login: true });
    await login.prompt();
    expect([...login.raw.matchAll(/read (\S+)/g)].map(([, name]) => name)).toEqual([
      '.zshenv',
      '.zprofile',
      '.zshrc',
      '.zlogin',
    ]);
    expect(login.output(await login.run('echo "[${ZDOTDIR-unset}]"'))).toBe('[unset]\n');

    const zdotdir = join(scratch, 'zdotdir');
    mkdirSync(zdotdir);
    writeFileSync(join(zdotdir, '.zshrc'), 'echo from-zdotdir\n');
    await using own = await ShellSession.open({
      shell: 'zsh',
      env: { ZDOTDIR: zdotdir },
      files: { '.zshrc': 'echo wrong\n' },
    });
    await own.prompt();
    expect(own.raw).toContain('from-zdotdir');
    expect(own.raw).not.toContain('wrong');
    expect(own.output(await own.run('echo "[$ZDOTDIR]"'))).toBe(`[${zdotdir}]\n`);
  });

  it('sh reads the ENV file of the user and keeps it', async () => {
    const env = join(scratch, 'env.sh');
    writeFileSync(env, 'echo from-env; PS1="mine> "\n');
    await using session = await ShellSession.open({ shell: 'dash', env: { ENV: env } });
    await session.prompt();
    expect(session.raw).toContain('from-env');
    expect(session.raw).toContain('mine> ');
    expect(session.output(await session.run('echo "[$ENV]"'))).toBe(`[${env}]\n`);
  });

  it('fish leaves XDG_DATA_DIRS as it was', async () => {
    await using unset = await ShellSession.open({ shell: 'fish' });
    expect(unset.output(await unset.run('set -q XDG_DATA_DIRS; or echo unset'))).toBe('unset\n');
    await using set = await ShellSession.open({ shell: 'fish', env: { XDG_DATA_DIRS: '/usr/share:/opt/x' } });
    expect(set.output(await set.run('env | grep XDG_DATA'))).toBe('XDG_DATA_DIRS=/usr/share:/opt/x\n');
  });

  it('bash called sh gets the ENV file', async () => {
    const sh = join(scratch, 'sh');
    symlinkSync('/bin/bash', sh);
    await using session = await ShellSession.open({ shell: sh });
    expect(await session.run('(exit 6)')).toMatchObject({ exitCode: 6 });
  });

  it('leaves shells with arguments and unknown programs alone', () => {
    const options = { root: join(scratch, 'root'), nonce: 'n' };
    for (const launch of [
      { shell: 'bash', args: ['-c', 'true'], env: { A: '1' } },
      { shell: '/usr/bin/python3', args: [], env: { A: '1' } },
    ]) {
      const { argv, env, kind } = integrate(launch, options);
      expect({ argv, env, kind }).toEqual({ argv: [launch.shell, ...launch.args], env: { A: '1' }, kind: undefined });
    }
    // A state root that cannot be written costs nobody their shell.
    expect(integrate({ shell: 'bash', args: [], env: {} }, { root: '/dev/null', nonce: 'n' })).toMatchObject({
      argv: ['bash'],
      kind: undefined,
    });
  });

  it('writes scripts once, 0644, and repairs one that was changed in size', () => {
    const root = join(scratch, 'install');
    const rcfile = (): string => {
      const launch = integrate({ shell: 'bash', args: [], env: {} }, { root, nonce: 'n' });
      launch.cleanup();
      return launch.argv[2] ?? '';
    };
    const path = rcfile();
    expect(statSync(path).mode & 0o777).toBe(0o644);
    const { ino, size } = statSync(path);
    expect(statSync(rcfile()).ino).toBe(ino);
    writeFileSync(path, '');
    expect(statSync(rcfile()).size).toBe(size);
  });
});
