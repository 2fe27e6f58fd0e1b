import { feed } from './feed.svelte.ts';
import { CallFailed } from './live.ts';
import { choicesOf, matching, type OpenChoice, whereOf } from './open-choices.ts';
import type { TargetList } from './shapes.ts';
import { newTerminal } from './sheet.svelte.ts';

/** Places that this page opened, the last one first. */
let opened: readonly string[] = [];
const mostRecent = 8;

/** What a person fills in, and the call that comes of it. */
export class OpenForm {
  /** What is in the field; moving through the list changes it, `typed` stays. */
  where = $state('');
  typed = $state('');
  cwd = $state('');
  name = $state('');
  isRecorded = $state(false);
  isOpening = $state(false);
  fault = $state<string>();
  list = $state.raw<TargetList>({ targets: [], shells: [] });
  isListed = $state(false);
  #stop: AbortController | undefined;

  constructor(where: string) {
    this.where = where;
  }

  /** When there is a link. Without the list a person can still type where. */
  async load(): Promise<void> {
    this.list = (await feed.live?.call<TargetList>('targets.list', {}).catch(() => undefined)) ?? this.list;
    this.isListed = true;
  }

  get choices(): OpenChoice[] {
    const open = [...feed.terminals.values()].toSorted((one, other) => other.since - one.since);
    const recent = [...new Set([...opened, ...open.map(({ target }) => target)])].slice(0, mostRecent);
    return choicesOf(this.list, recent);
  }

  get shown(): OpenChoice[] {
    return matching(this.choices, this.typed);
  }

  /** The choice in the field. */
  get at(): number {
    return this.shown.findIndex(({ text }) => text === this.where);
  }

  /** What has the chosen place to itself. */
  get inUseBy(): string | undefined {
    return this.choices.find(({ text }) => text === this.where)?.inUseBy;
  }

  /** Questions that the call of this page waits for: a host key, a password. */
  get questions() {
    return this.isOpening
      ? feed.waiting.filter(({ question, asker }) => question !== undefined && asker === 'person')
      : [];
  }

  /** Directories of the terminals that are open. */
  get directories(): string[] {
    return [...new Set([...feed.terminals.values()].flatMap(({ cwd }) => cwd ?? []))].slice(0, 20);
  }

  move(by: 1 | -1): void {
    const { shown, at } = this;
    const next = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
    if (next) this.where = next.text;
  }

  /** Gives up, and takes back what the server asks for it: no other call needs the answer. */
  cancel(): void {
    for (const { question } of this.questions) {
      void feed.live?.call('person.decline', { item: question }).catch(() => {});
    }
    this.#stop?.abort();
  }

  async open(): Promise<void> {
    const where = whereOf(this.where, this.choices);
    if (!where || !feed.live || this.isOpening) return;
    const stop = new AbortController();
    this.#stop = stop;
    this.isOpening = true;
    this.fault = undefined;
    try {
      const { cwd, name } = this;
      const input = { ...where, ...(cwd.trim() !== '' && { cwd: cwd.trim() }), ...(name.trim() !== '' && { name }) };
      const { terminal } = await feed.live.call<{ terminal: string }>('terminal.open', input, stop.signal);
      opened = [this.where, ...opened.filter((text) => text !== this.where)].slice(0, mostRecent);
      if (this.isRecorded) await feed.live.call('terminal.record', { action: 'start', terminal });
      if (!stop.signal.aborted) newTerminal.leaveTo(`/t/${terminal}`);
    } catch (error) {
      this.fault = reasonOf(error);
    }
    this.isOpening = false;
  }
}

/** Why it could not be opened, and the way out. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CallFailed)) return error instanceof Error ? error.message : String(error);
  return [error.failure.message, error.failure.hint].filter((one) => one !== undefined).join(' ');
}
