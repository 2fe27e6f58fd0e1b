import { shortCommand } from '../../../contract/quote.ts';
import type { Redactor } from '../../redaction/redactor.ts';
import type { Keyframe } from '../keyframes/keyframe.ts';
import type { RecordedCommand, RecordingMetadata } from '../metadata.ts';
import type { PeopleNote, RecordedTypist } from '../people.ts';
import type { ReplayEntry } from './entries.ts';
import type { OutlineMaker } from './outline-maker.ts';

/** One command of a recording. Moments `t` are seconds as it plays, `at` milliseconds since the epoch. */
export interface OutlineBlock {
  readonly n: number;
  readonly command?: string;
  readonly exitCode?: number;
  readonly t: number;
  /** Absent while it runs. */
  readonly endT?: number;
  readonly at: number;
  readonly endAt?: number;
  readonly by?: string;
  readonly kind?: RecordedTypist['kind'];
}

/** What happens in a recording, and when. */
export interface RecordingOutline {
  readonly startedAt: number;
  readonly playMs: number;
  readonly blocks: readonly OutlineBlock[];
  /** Stretches in which something was printed. */
  readonly busy: readonly (readonly [t: number, endT: number])[];
  /** Stretches in which the terminal waited for a person. */
  readonly waits: readonly (readonly [t: number, endT: number])[];
  readonly people: readonly {
    readonly t: number;
    readonly at: number;
    readonly by: string;
    readonly secret: boolean;
  }[];
  readonly masked: number;
}

interface Anchor {
  readonly t: number;
  readonly at: number;
}

interface OutlineParts {
  readonly entry: ReplayEntry;
  readonly maker: OutlineMaker;
  readonly keys: readonly Keyframe[];
  readonly redactor: Redactor;
  /** What the recorder of a running one knows. */
  readonly told: Pick<RecordingMetadata, 'commands' | 'people'> | undefined;
}

export function outlineOf({ entry, maker, keys, redactor, told }: OutlineParts): RecordingOutline {
  const { kind, startTime, durationMs, state } = entry;
  const known: Pick<Partial<RecordingMetadata>, 'commands' | 'people'> = told ?? entry.cast?.metadata ?? {};
  const found = maker.commands;
  // Both lists are of the same commands only when none of them is missing.
  const exact = kind === 'cast' && known.commands?.length === found.length ? known.commands : undefined;
  const clock = new PlayClock(anchors({ startTime, durationMs, found, exact, keys, maker, isLog: kind === 'log' }));
  const notes = kind === 'log' ? maker.notes : (known.people ?? []);
  const typed = notes.flatMap((note) => ('typed' in note ? [{ at: startTime + note.ms, ...note.typed }] : []));
  const typist = (at: number): RecordedTypist | undefined => typed.findLast((one) => one.at <= at);
  const block = (one: Pick<RecordedCommand, 'command' | 'startMs'> & Partial<RecordedCommand>, n: number) => {
    const { command, exitCode, startMs, endMs } = one;
    const [t, at] = [seconds(startMs), clock.wall(startMs / 1000)];
    const who = typist(at);
    return {
      n: n + 1,
      ...(command !== null && { command: shortCommand(redactor.redactText(command).text) }),
      ...(typeof exitCode === 'number' && { exitCode }),
      t,
      ...(endMs !== undefined && { endT: seconds(endMs), endAt: clock.wall(endMs / 1000) }),
      at,
      ...(who && { by: who.by, kind: who.kind }),
    };
  };
  const running = state === 'finished' ? undefined : maker.running;
  const playMs = Math.max(maker.lastMs, entry.playMs ?? 0);
  const named = found.map((one, at) => ({ ...one, command: exact?.[at]?.command ?? one.command }));
  return {
    startedAt: startTime,
    playMs,
    blocks: [...named.map(block), ...(running ? [block(running, found.length)] : [])],
    busy: maker.busy.map(([from, to]) => [seconds(from), seconds(to)] as const),
    waits: waitsOf(notes, startTime, clock, playMs / 1000),
    people: typed
      .filter((one) => one.kind === 'person')
      .map(({ at, by, secret = false }) => ({ t: seconds(clock.play(at) * 1000), at, by, secret })),
    masked: maker.masked,
  };
}

function anchors({
  startTime,
  durationMs,
  found,
  exact,
  keys,
  maker,
  isLog,
}: {
  readonly startTime: number;
  readonly durationMs: number | undefined;
  readonly found: readonly RecordedCommand[];
  readonly exact: readonly RecordedCommand[] | undefined;
  readonly keys: readonly Keyframe[];
  readonly maker: OutlineMaker;
  readonly isLog: boolean;
}): Anchor[] {
  const first = { t: 0, at: startTime };
  // The pauses of a log are not cut.
  if (isLog) return [first];
  const known = exact?.flatMap(({ startMs, endMs }, index) => {
    const { startMs: from = 0, endMs: to = 0 } = found[index] ?? {};
    return [
      { t: from / 1000, at: startTime + startMs },
      { t: to / 1000, at: startTime + endMs },
    ];
  });
  const last = durationMs === undefined ? [] : [{ t: maker.lastMs / 1000, at: startTime + durationMs }];
  return [first, ...(known ?? keys.map(({ t, at }) => ({ t, at }))), ...last];
}

/** Between the moments of a recording and those of the clock on the wall: long pauses are cut in casts. */
class PlayClock {
  readonly #anchors: readonly Anchor[];

  constructor(anchors: readonly Anchor[]) {
    const sorted = anchors.toSorted((a, b) => a.t - b.t);
    let latest = 0;
    this.#anchors = sorted.map(({ t, at }) => ({ t, at: (latest = Math.max(latest, at)) }));
  }

  wall(t: number): number {
    const before = this.#anchors.findLast((one) => one.t <= t) ?? { t: 0, at: 0 };
    return Math.round(before.at + (t - before.t) * 1000);
  }

  play(at: number): number {
    const index = this.#anchors.findLastIndex((one) => one.at <= at);
    const before = this.#anchors[index];
    if (!before) return 0;
    const next = this.#anchors[index + 1]?.t ?? Number.POSITIVE_INFINITY;
    return Math.min(next, before.t + (at - before.at) / 1000);
  }
}

function waitsOf(
  notes: readonly PeopleNote[],
  startTime: number,
  clock: PlayClock,
  end: number,
): (readonly [t: number, endT: number])[] {
  const waits: (readonly [number, number])[] = [];
  let since: number | undefined;
  for (const note of notes) {
    if (!('waits' in note)) continue;
    const t = seconds(Math.min(end, clock.play(startTime + note.ms)) * 1000);
    if (note.waits) since ??= t;
    else if (since !== undefined) {
      waits.push([since, t]);
      since = undefined;
    }
  }
  if (since !== undefined) waits.push([since, end]);
  return waits;
}

/** In whole microseconds, as casts have them. */
const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6;
