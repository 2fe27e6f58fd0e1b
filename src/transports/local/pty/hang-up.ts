import { constants } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ignoresSignal, isRunning, type Member, sessionMembers } from './proc.ts';
import { groupsOf, signalGroup, signalProcess } from './signals.ts';

/**
 * A hang-up that every process of a session hears exactly once. A closed window sends it up to three times: the kernel does,
 * each shell passes it on to its jobs, and the kernel sends it again when the session leader ends. A script that runs its EXIT
 * trap survives the second one, but the `rm` that the trap has just started does not, and its lock file stays. So every shell
 * is stopped until the jobs it started have ended; the hang-up waits for it meanwhile. Should this process die, the kernel
 * hangs up the terminal and continues what is stopped.
 */
export class HangUp {
  readonly #leader: number;
  readonly #held = new Set<number>();
  /** What heard the hang-up and had not ended at the newest look. What it starts now ends before it does, as a rule. */
  #heard: readonly number[] = [];

  private constructor(leader: number) {
    this.#leader = leader;
  }

  /** Sends it to the groups of the session. Without `/proc` no shell is held, and only the foreground and the leader are known. */
  static async begin(leader: number, foreground: number | undefined): Promise<HangUp> {
    const hangUp = new HangUp(leader);
    hangUp.#hold(sessionMembers(leader, justNow()));
    const heldAt = performance.now();
    // Terminals that close together look at the processes together.
    await nextTurn();
    // Until they were stopped, they may have started something.
    const members = sessionMembers(leader, heldAt);
    hangUp.#hold(members);
    const deaf = members.filter(({ pid }) => ignoresSignal(pid, constants.signals.SIGHUP));
    const groups = groupsOf(leader, foreground, members);
    for (const group of groups) signalGroup(group, 'HUP');
    // The hang-up means nothing to these (`nohup`). They are told in another way, once: what they start then is left alone.
    for (const { pid } of deaf) signalProcess(pid, 'TERM');
    // A stopped process hears nothing until it continues.
    for (const { pid, isStopped } of members) if (isStopped && !hangUp.#held.has(pid)) signalProcess(pid, 'CONT');
    if (members.length === 0) for (const group of groups) signalGroup(group, 'CONT');
    hangUp.#heard = members.map(({ pid }) => pid).filter((pid) => !hangUp.#held.has(pid));
    return hangUp;
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  /** Continues every shell whose jobs have ended, and the leader when it is the last. */
  look(): void {
    if (!this.isHolding) return;
    // Few files are read until one of them has ended, and the list of all processes only then.
    const left = this.#heard.filter(isRunning);
    if (left.length === this.#heard.length && left.length > 0) return;
    const members = sessionMembers(this.#leader, justNow());
    this.#heard = members.map(({ pid }) => pid).filter((pid) => !this.#held.has(pid));
    const busy = ancestors(members);
    if (members.some(({ pid }) => pid !== this.#leader)) busy.add(this.#leader);
    for (const pid of this.#held) if (!busy.has(pid)) this.#continue(pid);
  }

  /** Continues all shells: their jobs had their time. */
  release(): void {
    for (const pid of this.#held) this.#continue(pid);
  }

  #hold(members: readonly Member[]): void {
    for (const pid of shellsIn(this.#leader, members)) {
      if (this.#held.has(pid)) continue;
      this.#held.add(pid);
      signalProcess(pid, 'STOP');
    }
  }

  #continue(pid: number): void {
    this.#held.delete(pid);
    signalProcess(pid, 'CONT');
  }
}

/** Recent enough to see whether a job has ended: the next look is never far. */
const justNow = (): number => performance.now() - 10;

/** The processes that pass a hang-up on: the leader by its end, others to the jobs they put into groups of their own. */
function shellsIn(leader: number, members: readonly Member[]): Set<number> {
  const groups = new Map(members.map(({ pid, group }) => [pid, group]));
  const shells = members.filter(({ parent, group }) => groups.has(parent) && groups.get(parent) !== group);
  const isAlone = members.every(({ pid }) => pid === leader);
  return new Set([...shells.map(({ parent }) => parent), ...(isAlone ? [] : [leader])]);
}

/** Every process that has a living descendant. */
function ancestors(members: readonly Member[]): Set<number> {
  const parents = new Map(members.map(({ pid, parent }) => [pid, parent]));
  const found = new Set<number>();
  for (const { parent } of members) {
    for (let pid: number | undefined = parent; pid !== undefined && !found.has(pid); pid = parents.get(pid))
      found.add(pid);
  }
  return found;
}
