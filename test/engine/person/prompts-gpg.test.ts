import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { typeText } from '../../../src/engine/input/typing.ts';
import { keys, never, Workplace } from '../../support/prompt-desk.ts';

const has = (program: string): boolean => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

test.runIf(has('gpg') && has('pinentry-curses'))(
  'gpg --gen-key asks all along, the passphrase only of the person',
  async () => {
    await using place = await Workplace.open();
    const home = join(place.home, 'g');
    onTestFinished(() => {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'], { stdio: 'ignore' });
    });
    const terminal = await place.shell();
    const asked = async (fits: object): Promise<void> => {
      await expect.poll(() => terminal.person.prompts.current, { timeout: 20_000 }).toMatchObject(fits);
    };
    const pinentry = execFileSync('sh', ['-c', 'command -v pinentry-curses'], { encoding: 'utf8' }).trim();
    await typeText(terminal, `mkdir -m 700 g; echo pinentry-program ${pinentry} > g/gpg-agent.conf`, keys, never);
    await typeText(terminal, 'export GNUPGHOME=$PWD/g GPG_TTY=$(tty); gpg --gen-key', keys, never);
    await asked({ kind: 'text', needs: 'input', prompt: 'Real name:' });
    await typeText(terminal, 'Anna Example', keys, never);
    await asked({ kind: 'text', needs: 'input', prompt: 'Email address:' });
    await typeText(terminal, 'anna@example.org', keys, never);
    await asked({ kind: 'choice', needs: 'input', fits: { answers: ['N', 'E', 'O', 'Q'], enter: true } });
    await typeText(terminal, 'O', keys, never);
    // The agent of gpg reads it, and gpg in the foreground does not.
    const prompt = 'Please enter the passphrase to\nprotect your new key\nPassphrase:';
    await asked({ kind: 'passphrase', needs: 'person', secret: true, prompt });
    expect(terminal.state.current).toBe('needs_person');
    await terminal.input.send(Buffer.from('correct horse 42 battery\r'), 'person', never);
    await asked({
      kind: 'passphrase',
      needs: 'person',
      secret: true,
      prompt: 'Please re-enter this passphrase\nPassphrase:',
    });
    await terminal.input.send(Buffer.from('correct horse 42 battery\r'), 'person', never);
    await expect.poll(() => terminal.state.current, { timeout: 30_000 }).toBe('idle');
    expect(terminal.blocks.last?.exitCode).toBe(0);
  },
);
