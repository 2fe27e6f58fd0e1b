import { FairleadError } from '../../contract/errors.ts';
import { isCarrier } from '../shells/carriers.ts';
import { isShell } from '../shells/traits.ts';

/** Where the processes cannot be seen it has no name, and may well be a shell. */
export function refuseProgram(name: string): void {
  if (name === '' || isShell(name) || isCarrier(name)) return;
  throw new FairleadError('conflict', `\`${name}\` is running in the terminal and is not a shell.`, {
    hint: 'Leave it first (Ctrl+D), type into it, or pass force: true to send it the line anyway.',
  });
}

/** Keys are no part of a command: a shell drops them, or takes them for something else. */
export function mustBeTypeable(command: string): void {
  const controls = new Set(command.match(/[\0-\x08\x0b\x0c\x0e-\x1f]/g));
  if (controls.size === 0) return;
  const names = [...controls].map((one) => `U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`);
  throw new FairleadError(
    'invalid_input',
    `A command must not contain control characters (found ${names.join(', ')}).`,
    {
      hint: "Press keys with send; in a command write them as the shell does, such as $'\\033'.",
    },
  );
}

export function anotherWaits(): FairleadError {
  return new FairleadError('conflict', 'Another call waits for a command in this terminal.', {
    hint: 'Wait for that call, or open another terminal.',
  });
}
