import type { Foreground } from '../channel.ts';
import { type InputMode, isCanonical } from '../../shells/input-mode.ts';
import type { ShellState } from '../blocks.ts';
import { isCarrier } from '../../shells/carriers.ts';
import { isShell, traitsOf } from '../../shells/traits.ts';
import { isInteractive } from '../../shells/shell-process.ts';
import { timings } from '../../waiting/timings.ts';

const { linesMs, busyMs, unseenMs, alternateMs } = timings.reply;

/** Whether the answer to a query is typed into the terminal: now, perhaps later, never. */
type ReplyVerdict = 'send' | 'wait' | 'drop';

/** What would take the answer if it were typed now. */
type InputReader =
  /** A program waits for input of the terminal. */
  | 'waiting'
  /** No program does, so far. */
  | 'busy'
  /** The line editor of a shell: the answer would be keys of the next command. */
  | 'editor'
  /** A program elsewhere, or one that cannot be looked at. */
  | 'unseen';

export interface Scene {
  readonly mode: InputMode | undefined;
  readonly reader: InputReader;
  /** The shell's marks say that its line editor reads. */
  readonly atPrompt: boolean;
  /** The shell said that its line editor asks the terminal itself, and reads the answers. */
  readonly asks: boolean;
  readonly alternate: boolean;
  /** The cursor stands behind something that looks like the prompt of a shell. */
  readonly behindPrompt: boolean;
}

interface TerminalQuery {
  /** Since the query was found. */
  readonly ageMs: number;
  /** It was found in canonical mode, and more has been printed since. */
  readonly printedOn: boolean;
}

export function verdictOn({ ageMs, printedOn }: TerminalQuery, scene: Scene): ReplyVerdict {
  const { mode, reader, alternate } = scene;
  if (isCanonical(mode)) return ageMs < linesMs && !printedOn ? 'wait' : 'drop';
  if (printedOn) return 'drop';
  if (scene.atPrompt) return scene.asks || mode === 'cbreak' || mode === 'echoed' ? 'send' : 'drop';
  switch (reader) {
    case 'waiting':
      return 'send';
    case 'editor':
      return 'drop';
    case 'busy':
      return ageMs < busyMs ? 'wait' : 'drop';
    case 'unseen':
      if (ageMs < (alternate ? alternateMs : unseenMs)) return 'wait';
      return scene.behindPrompt && !alternate ? 'drop' : 'send';
  }
}

/** They hand their terminal to a server that reads it; the program in the foreground does not. */
const handsOver = /^(?:tmux|screen|emacsclient)\b/i;

interface Front {
  readonly mode: Scene['mode'];
  readonly program: Foreground | undefined;
  readonly state: ShellState;
  readonly reads: () => boolean | undefined;
}

export function readerOf({ mode, program, state, reads }: Front): InputReader {
  if (mode === undefined || program === undefined) return 'unseen';
  const { name, isLeader, arguments: words } = program;
  const isTyped = isShell(name) && (words === undefined || isInteractive(words));
  if (isTyped && mode === 'raw') {
    // A builtin of the shell, or a shell that took the place of the one with marks (`exec`). Some ask by themselves.
    return (isLeader && state === 'running') || traitsOf(name)?.asksTerminal === 'yes' ? 'unseen' : 'editor';
  }
  if (isCarrier(name) || handsOver.test(name)) return 'unseen';
  const isReading = reads();
  return isReading === undefined ? 'unseen' : isReading ? 'waiting' : 'busy';
}
