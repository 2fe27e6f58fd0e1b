import { feed } from './feed.svelte.ts';
import type { TrailCheck, TrailNews, TrailPage, TrailRow } from './shapes.ts';

export interface AuditFilter {
  readonly who: string;
  readonly what: string;
  readonly target: string;
  readonly day: string;
}

const names = ['who', 'what', 'target', 'day'] as const;

/** The filter that an address holds. */
export function filterIn(search: string): AuditFilter {
  const asked = new URLSearchParams(search);
  const [who = '', what = '', target = '', day = ''] = names.map((name) => asked.get(name)?.trim() ?? '');
  return { who, what, target, day };
}

/** The address of a filter. */
export function auditPath(filter: AuditFilter): string {
  const given = names.filter((name) => filter[name] !== '').map((name) => [name, filter[name]]);
  return given.length === 0 ? '/audit' : `/audit?${new URLSearchParams(given)}`;
}

const inputOf = (filter: AuditFilter): Record<string, string> =>
  Object.fromEntries(names.filter((name) => filter[name] !== '').map((name) => [name, filter[name]]));

/** An earlier check is good enough for a page that opens. */
const fineAgeS = 300;

/** The audit trail as a page shows it: pages backwards, new rows as they come, and whether it is whole. */
export class AuditList {
  rows = $state<readonly TrailRow[]>([]);
  /** Rows that came while the person looks elsewhere in the list. */
  fresh = $state<readonly TrailRow[]>([]);
  isLoaded = $state(false);
  isLoading = $state(false);
  next = $state<string>();
  keptSince = $state<string>();
  fault = $state<unknown>();
  olderFault = $state<unknown>();
  check = $state<TrailCheck>();
  isChecking = $state(false);
  checkFault = $state<unknown>();
  isExporting = $state(false);
  /** New rows wait while this holds. */
  isAway = false;
  #filter: AuditFilter = filterIn('');
  #asked = 0;

  /** For an effect: shows these rows and follows new ones, until the answer is called. */
  follow(filter: AuditFilter): (() => void) | undefined {
    this.#filter = filter;
    void this.load();
    return feed.live?.read<TrailNews>({
      stream: 'trail.watch',
      input: () => inputOf(filter),
      item: (news) => {
        if (news.kind === 'behind') void this.load();
        else this.#add(news.record);
      },
    });
  }

  /** The newest rows. */
  async load(): Promise<void> {
    const asked = ++this.#asked;
    this.fault = undefined;
    this.isLoading = true;
    try {
      const page = await feed.live?.call<TrailPage>('trail.list', inputOf(this.#filter));
      if (!page || asked !== this.#asked) return;
      this.rows = page.records;
      this.fresh = [];
      this.next = page.next;
      this.keptSince = page.kept_since;
      this.isLoaded = true;
    } catch (error) {
      if (asked === this.#asked) this.fault = error;
    } finally {
      if (asked === this.#asked) this.isLoading = false;
    }
  }

  /** The rows before the last one. */
  async older(): Promise<void> {
    const { next: before } = this;
    if (before === undefined || this.isLoading) return;
    const asked = this.#asked;
    this.olderFault = undefined;
    this.isLoading = true;
    try {
      const page = await feed.live?.call<TrailPage>('trail.list', { ...inputOf(this.#filter), before });
      if (!page || asked !== this.#asked) return;
      const known = new Set(this.rows.map(({ id }) => id));
      this.rows = [...this.rows, ...page.records.filter(({ id }) => !known.has(id))];
      this.next = page.next;
    } catch (error) {
      this.olderFault = error;
    } finally {
      if (asked === this.#asked) this.isLoading = false;
    }
  }

  showFresh(): void {
    this.rows = [...this.fresh, ...this.rows];
    this.fresh = [];
  }

  async verify(maxAgeS = fineAgeS): Promise<void> {
    if (this.isChecking) return;
    this.isChecking = true;
    this.checkFault = undefined;
    try {
      this.check = await feed.live?.call<TrailCheck>('trail.verify', { max_age_s: maxAgeS });
    } catch (error) {
      this.checkFault = error;
    } finally {
      this.isChecking = false;
    }
  }

  /** One file: the chosen day, or every day that is kept. */
  async export(): Promise<{ readonly name: string; readonly text: string } | undefined> {
    this.isExporting = true;
    this.checkFault = undefined;
    try {
      const days = this.#filter.day === '' ? daysSince(this.keptSince, feed.now) : [this.#filter.day];
      const parts: string[] = [];
      for (const day of days) {
        const { text } = (await feed.live?.call<{ text: string }>('trail.export', { day }).catch(missing)) ?? {
          text: '',
        };
        parts.push(text);
      }
      const span = days.length === 1 ? days[0] : `${days[0]}-to-${days.at(-1)}`;
      return { name: `fairlead-audit-${span}.jsonl`, text: parts.join('') };
    } catch (error) {
      this.checkFault = error;
      return undefined;
    } finally {
      this.isExporting = false;
    }
  }

  #add(row: TrailRow): void {
    if (!this.isLoaded || [...this.fresh, ...this.rows].some(({ id }) => id === row.id)) return;
    if (this.isAway) this.fresh = [row, ...this.fresh];
    else this.rows = [row, ...this.rows];
  }
}

/** A day without a record has no file. */
function missing(error: unknown): { text: string } {
  if ((error as { failure?: { code: string } }).failure?.code === 'not_found') return { text: '' };
  throw error;
}

const dayMs = 86_400_000;

/** The days from the first to today, in UTC. */
export function daysSince(first: string | undefined, now: number): string[] {
  const days: string[] = [];
  const today = new Date(now).toISOString().slice(0, 10);
  for (let at = Date.parse(first ?? today); days.length < 31; at += dayMs) {
    const day = new Date(at).toISOString().slice(0, 10);
    if (day > today) break;
    days.push(day);
  }
  return days;
}
