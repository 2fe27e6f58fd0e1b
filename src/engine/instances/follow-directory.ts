import type { Engine } from '../engine.ts';
import type { OwnInstance } from './own-instance.ts';

/** The file of an instance is written at most so often for a change of directory. */
const oftenMs = 5000;

/** Keeps an instance's file where it is, and the directory in it that of its lowest live session. */
export function followDirectory(engine: Engine, own: OwnInstance): void {
  let due: Disposable | undefined;
  const write = (): void => {
    due = undefined;
    const lowest = engine.terminals
      .filter(({ ended }) => !ended)
      .sort((a, b) => a.identity.number - b.identity.number)[0];
    const cwd = lowest?.place.localCwd;
    if (cwd !== undefined) own.update({ cwd });
  };
  const changed = (): void => {
    due ??= engine.clock.after(oftenMs, write);
  };
  engine.events.on((event) => {
    if (event.kind !== 'opened' && event.kind !== 'closed') return;
    changed();
    // A shell reports its directory with its prompt. Listeners end with the terminal.
    if (event.kind === 'opened') event.terminal.blocks.events.on(({ type }) => type === 'prompt' && changed());
  });
  // Without its file clients cannot find it, and the next instance would take its name.
  const look = (): void => {
    own.repair();
    looking = engine.clock.after(oftenMs, look);
  };
  let looking = engine.clock.after(oftenMs, look);
  const stop = (): void => {
    due?.[Symbol.dispose]();
    looking[Symbol.dispose]();
  };
  engine.closing.addEventListener('abort', stop, { once: true });
}
