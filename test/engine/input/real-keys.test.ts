import { describe, expect, it } from 'vitest';
import { encodeKey, type KeyModes } from '../../../src/engine/input/keys.ts';
import { ShellSession } from '../../support/shells/integration-session.ts';

const normal: KeyModes = { applicationCursor: false, applicationKeypad: false };
const application: KeyModes = { applicationCursor: true, applicationKeypad: true };

describe('R-TERM-042 keys, as a real line editor takes them', () => {
  it.each([
    ['bash', normal],
    // zsh switches its cursor keys to the application form.
    ['zsh', application],
    ['fish', normal],
  ] as const)('%s moves, deletes, recalls and wipes', async (shell, modes) => {
    const files = {
      '.zshrc':
        'bindkey -e\nbindkey "${terminfo[kdch1]}" delete-char\nbindkey "${terminfo[khome]}" beginning-of-line\n',
    };
    await using session = await ShellSession.open({ shell, files });
    const press = async (...keys: string[]): Promise<void> => {
      for (const key of keys) await session.type(Buffer.from(encodeKey(key, modes)).toString());
    };
    const enter = async (): Promise<string> => {
      const before = session.blocks.last?.id ?? 0;
      await press('Enter');
      await session.until(
        () => (session.blocks.last?.id ?? 0) > before && session.blocks.last?.endedAt !== undefined,
        'the end',
      );
      await session.prompt();
      return session.output(session.blocks.last ?? expect.unreachable());
    };
    await session.prompt();
    await session.type('xcho one');
    await press('Home', 'Delete');
    await session.type('e');
    await press('Ctrl+E', 'Backspace', 'Backspace', 'Backspace');
    await session.type('two');
    expect(await enter()).toBe('two\n');

    await press('ArrowUp', 'ArrowLeft');
    await session.type('X');
    expect(await enter()).toBe('twXo\n');

    await session.type('echo never');
    await press('Ctrl+U');
    await session.type('echo a b');
    await press('Alt+b');
    await session.type('c ');
    expect(await enter()).toBe('a c b\n');
  });
});
