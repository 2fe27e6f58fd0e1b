import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { join } from 'node:path';
import { type ShellHome, shellHome } from '../../support/engine.ts';
import { askAndRead, askEach, clean, prepare, runs } from '../../support/queries/matrix.ts';
import { queries } from '../../support/queries/queries.ts';
import { sshHome } from '../../support/ssh/home.ts';

const shells = ['bash', 'zsh', 'fish', 'dash'];

test('the table holds 68 kinds of queries', () => {
  expect(new Set(queries.map(({ ask }) => ask)).size).toBe(68);
});

describe.each(['local', 'ssh'])('%s: no byte of an answer gets into a command line', (place) => {
  let home: ShellHome;
  beforeAll(async () => {
    home = place === 'ssh' ? await sshHome() : shellHome({ '.zshrc': '' });
    prepare(home.home);
  });
  afterAll(() => home[Symbol.asyncDispose]());

  test.each(shells)('%s: printed by cat, each of 68 kinds', async (shell) => {
    await using terminal = await home.open(shell);
    await askEach(terminal, home.home, 'cat');
    await runs(terminal, `cat ${join(home.home, 'all')}`);
    await clean(terminal);
  });

  test.each(shells)('%s: asked in raw mode by a program that ends without reading, each of 68 kinds', async (shell) => {
    await using terminal = await home.open(shell);
    await askEach(terminal, home.home, `sh ${join(home.home, 'leave.sh')}`);
  });

  test.each(shells)('%s: a program that reads is told all that this terminal answers', async (shell) => {
    await using terminal = await home.open(shell);
    await askAndRead(terminal, home.home);
  });

  test.each(shells)('%s: printed in canonical mode by a command that goes on for a while', async (shell) => {
    await using terminal = await home.open(shell);
    await runs(terminal, `cat ${join(home.home, 'all')}; sleep 1`);
    await clean(terminal);
  });

  test.runIf(place === 'local').each(shells)(
    '%s: a program that asks, stays for a while and never reads',
    async (shell) => {
      await using terminal = await home.open(shell);
      await runs(terminal, `sh ${join(home.home, 'linger.sh')} ${join(home.home, 'all')}`);
      await clean(terminal);
    },
  );
});
