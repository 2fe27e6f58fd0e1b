import { placeIn } from './open-choices.ts';
import type { TargetList, TerminalShown } from './shapes.ts';
import { byUrgency } from './words.ts';

/** A place that terminals run on: this machine, a host, a line. */
export interface Machine {
  /** In the address of its page: its target. */
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly isHere: boolean;
  /** Who logs in where, if it is not here. */
  readonly address: string;
  /** Programs that can be opened there, as far as they are known. */
  readonly opens: readonly string[];
  readonly inUseBy?: string;
  /** The worst first. */
  readonly terminals: readonly TerminalShown[];
}

/** This machine, what can be opened from it, and what has terminals although nothing lists it. */
export function machinesOf(list: TargetList, terminals: Iterable<TerminalShown>, hostName: string): Machine[] {
  const all = [...terminals];
  const on = (target: string): TerminalShown[] => all.filter((one) => one.target === target).toSorted(byUrgency);
  const listed = list.targets.filter(({ isPattern }) => isPattern !== true);
  const known = new Set(listed.map(({ target }) => target));
  const others = [...new Set(all.map(({ target }) => target))].filter((target) => !known.has(target)).toSorted();
  return [
    ...listed.map(({ target, kind, address, user, summary, inUseBy }): Machine => {
      const isHere = target === kind;
      const place = address === undefined ? summary : `${user === undefined ? '' : `${user}@`}${address}`;
      return {
        id: target,
        name: isHere ? hostName : placeIn(target),
        kind,
        isHere,
        address: isHere ? '' : place,
        opens: isHere ? list.shells : [],
        ...(inUseBy !== undefined && { inUseBy }),
        terminals: on(target),
      };
    }),
    ...others.map((target): Machine => {
      const [kind = target] = target.split(':', 1);
      return { id: target, name: placeIn(target), kind, isHere: false, address: '', opens: [], terminals: on(target) };
    }),
  ];
}

/** `3 terminals` */
export const countWords = (count: number): string => `${count} ${count === 1 ? 'terminal' : 'terminals'}`;

/** `2 working`, `needs you`: how many are in the worst state, where there is more than one terminal. */
export function worstWords({ terminals }: Machine): string {
  const [worst] = terminals;
  if (!worst) return '';
  const word = worst.shown.replace('_', ' ');
  const same = terminals.filter(({ shown }) => shown === worst.shown).length;
  return terminals.length === 1 || worst.shown === 'needs_you' ? word : `${same} ${word}`;
}
