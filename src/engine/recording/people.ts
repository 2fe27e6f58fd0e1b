import type { Recordable } from './terminal-source.ts';

/** A sender of keys. */
export interface RecordedTypist {
  readonly by: string;
  readonly kind: 'agent' | 'person';
  /** Typed without echo. */
  readonly secret?: true;
}

/** A sender began to type, or a terminal began or ceased to wait for a person. */
export type PeopleEvent = { readonly typed: RecordedTypist } | { readonly waits: boolean };

/** The same with its time: milliseconds of real time since the start of the recording. */
export type PeopleNote = PeopleEvent & { readonly ms: number };

/** More are not kept. */
export const mostPeopleNotes = 10_000;
/** Keys of one sender within this time are one note. */
const togetherMs = 5_000;
const longestName = 64;

/** Tells who types into a terminal, and when it waits for a person. */
export function watchPeople(terminal: Recordable, listener: (event: PeopleEvent, atMs?: number) => void): Disposable {
  const { input, state } = terminal;
  let last: (RecordedTypist & { readonly atMs: number }) | undefined;
  let isWaiting = state.current === 'needs_person';
  const listening = [
    input.events.on((event) => {
      const { atMs } = event;
      const by = event.by.slice(0, longestName);
      const holder = input.lease?.holder;
      const kind = holder?.by === event.by ? holder.kind : event.by === 'person' ? 'person' : 'agent';
      // Whether it echoes is a question to the system: it is asked for people only.
      const isSecret = kind === 'person' && event.echo === false;
      const isSame = last?.by === by && last.kind === kind && (last.secret === true) === isSecret;
      const goesOn = isSame && atMs - (last?.atMs ?? 0) < togetherMs;
      const typed: RecordedTypist = { by, kind, ...(isSecret && { secret: true as const }) };
      last = { ...typed, atMs };
      if (!goesOn) listener({ typed }, atMs);
    }),
    state.changed?.on((now) => {
      if ((now === 'needs_person') === isWaiting) return;
      isWaiting = !isWaiting;
      listener({ waits: isWaiting });
    }),
  ];
  if (isWaiting) listener({ waits: true });
  return {
    [Symbol.dispose]() {
      for (const one of listening) one?.[Symbol.dispose]();
    },
  };
}
