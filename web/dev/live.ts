import { CallFailed, type Live } from '../src/lib/live.ts';
import type { ReplayOutline } from '../src/lib/replay-shapes.ts';
import { now } from './stories.ts';
import type { Text } from './texts.ts';

const never = new Promise<never>(() => {});

/** The recordings of the player's stories, by name. */
export const recordings = ['finished', 'goes-on', 'recovered', 'masked', 'no-marks', 'removed', 'broken', 'loading'];

export function outlineOf(recording: string, text: Text): ReplayOutline {
  const typed = { at: now - 60_000, by: text('Claude Code'), kind: 'agent' } as const;
  const ended = { ...typed, endAt: now - 50_000 };
  return {
    recording,
    kind: 'cast',
    title: text(recording),
    target: 'local',
    state: recording === 'goes-on' ? 'recording' : 'finished',
    recovered: recording === 'recovered',
    startedAt: now - 60_000,
    playMs: 60_000,
    cols: 80,
    rows: 10,
    blocks:
      recording === 'no-marks'
        ? []
        : [
            { ...ended, n: 1, command: text('npm test'), exitCode: 1, t: 1, endT: 12 },
            { ...ended, n: 2, command: text('npm run mend'), exitCode: 0, t: 14, endT: 40 },
            { ...typed, n: 3, command: text('tail -f log'), t: 42 },
          ],
    busy: [[1, 12]],
    waits: [[20, 30]],
    people: [{ t: 25, at: now - 30_000, by: text('Ana'), secret: true }],
    masked: recording === 'masked' ? 3 : 0,
  };
}

/** Answers what the parts ask for by themselves; a story has no server. */
export function live(text: Text): Live {
  const answers: Readonly<Record<string, (input: { recording?: string; when?: string }) => unknown>> = {
    'person.take': ({ when }) => (when === 'command_ends' ? never : { epoch: 1 }),
    'replay.list': () => ({ recordings: [] }),
    'replay.keys': () => ({ keys: [], more: false }),
    'replay.seek': () => ({ cols: 80, rows: 10, screen: '$ npm test\r\n', text: '$ npm test' }),
    'replay.range': () => ({ cols: 80, rows: 10, events: [[2, 'o', 'not ok\r\n']], to: 60, more: false }),
    'replay.blocks': ({ recording = '' }) => {
      if (recording === 'loading') return never;
      if (recording === 'removed')
        throw new CallFailed({ code: 'not_found', message: 'This recording was removed on 12 Nov after 30 days.' });
      if (recording === 'broken') throw new CallFailed({ code: 'internal', message: text('Its file is damaged.') });
      return outlineOf(recording, text);
    },
  };
  const call = async (op: string, input: object): Promise<unknown> => {
    const answer = answers[op];
    if (!answer) throw new CallFailed({ code: 'not_found', message: text(`A story has no ${op}.`) });
    return await answer(input);
  };
  const fake: Pick<Live, 'read' | 'tryNow'> & { call: typeof call } = { call, read: () => () => {}, tryNow: () => {} };
  return fake as unknown as Live;
}
