import { cursorLine, looksLikeShellPrompt } from '../../shells/prompt-line.ts';
import type { Faults } from '../faults.ts';
import type { Terminal } from '../terminal.ts';
import { ReplyEcho } from './echo.ts';
import { Replies } from './replies.ts';

/** The answers of this terminal. Queries before `answeredTo` were answered by another process. */
export function repliesFor(terminal: Terminal, faults: Faults, answeredTo: number | undefined): Replies {
  const { clock, output, blocks, screen, input, log, process } = terminal;
  const type = (bytes: Uint8Array, mayGo: () => boolean): void => input.reply(bytes, mayGo);
  return new Replies({
    clock,
    blocks,
    process,
    offset: () => log.end,
    fetch: () => terminal.feed.sync(),
    alternate: () => screen.alternate,
    behindPrompt: () => looksLikeShellPrompt(cursorLine(terminal)),
    echo: new ReplyEcho({ clock, output, lastInput: () => input.last, type }),
    type,
    onFault: (thrown) => faults.note(thrown, 'the answers to queries'),
    answeredTo,
  });
}
