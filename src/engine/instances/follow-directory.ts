import type { Engine } from '../engine.ts';
import type { OwnInstance } from './own-instance.ts';

/** The file of an instance is written at most so often for a change of directory (R-RPC-008). */
const oftenMs = 5000;

/** Keeps the directory in an instance's file that of its lowest live session. */
export function followDirectory(engine: Engine, own: OwnInstance): void {
  let due: Disposable | undefined;
  const write = (): void => {
    due = undefined;
    const lowest = engine.terminals.filter(({ ended }) => !ended).sort((a, b) => a.number - b.number)[0];
    if (lowest?.cwd !== undefined) own.update({ cwd: lowest.cwd });
  };
  const changed = (): void => {
    due ??= engine.clock.after(oftenMs, write);
  };
  engine.events.on(({ kind, terminal }) => {
    changed();
    // A shell tells where it is with its prompt. The terminal takes its listeners with it.
    if (kind === 'opened') terminal.block.on(({ type }) => type === 'prompt' && changed());
  });
  engine.closing.addEventListener('abort', () => due?.[Symbol.dispose](), { once: true });
}
