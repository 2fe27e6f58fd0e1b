import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenQuestion } from '../../../engine/person/questions/question.ts';
import { HeldCall, messageFor, type Parts, type ToolAnswer, type Work } from './held.ts';

const never = new AbortController().signal;
const done: ToolAnswer = { content: [] };

const question = (changed: Partial<OpenQuestion> = {}): OpenQuestion => ({
  id: 'q_1',
  kind: 'password',
  subject: 'alice@db.example:22',
  prompt: 'Password:',
  secret: true,
  principal: 'owner',
  asker: 'test',
  since: new Date().toISOString(),
  expiresAt: new Date(Date.now() + 60_000).toISOString(),
  ...changed,
});

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function hold(work: Work, ending: AbortSignal = never, link = () => Promise.resolve('http://127.0.0.1/x')) {
  const ports = { link, hold: vi.fn<() => void>(), over: vi.fn<() => void>() };
  const held = new HeldCall('key', work, ending, ports);
  return { held, ports };
}

/** Asks once, and remembers how it was told to stop. */
function asking() {
  const stopped: unknown[] = [];
  const willing: boolean[] = [];
  const work = async ({ person, signal }: Parts): Promise<ToolAnswer> => {
    signal.addEventListener('abort', () => stopped.push(signal.reason));
    willing.push((await person?.show(question(), signal)) ?? false);
    return done;
  };
  return { work, stopped, willing };
}

test('a call that asks nothing is over with its result', async () => {
  const { held, ports } = hold(() => Promise.resolve(done));
  expect(await held.attend(never, () => {})).toBe(done);
  expect(ports.hold).not.toHaveBeenCalled();
  expect(ports.over).toHaveBeenCalled();
});

test('a client that does not come back: the call is told to stop, a minute after the question was too old', async () => {
  const { work, stopped } = asking();
  const { held, ports } = hold(work);
  expect(await held.attend(never, () => {})).toMatchObject({
    resultType: 'input_required',
    inputRequests: {
      q_1: {
        params: { message: 'Password (alice@db.example:22). Open the page to type it; the agent will not see it.' },
      },
    },
  });
  expect(ports.hold).toHaveBeenCalledOnce();
  vi.advanceTimersByTime(119_000);
  expect(stopped).toEqual([]);
  vi.advanceTimersByTime(1000);
  expect(stopped).toMatchObject([{ message: 'No client waits for this call any more.' }]);
  expect(ports.over).toHaveBeenCalled();
});

test('a client that comes back, and hangs up while the person types', async () => {
  const { work, stopped, willing } = asking();
  const { held, ports } = hold((parts) => work(parts).then(() => new Promise(() => {})));
  await held.attend(never, () => {});
  held.decide(() => true);
  const request = new AbortController();
  void held.attend(request.signal, () => {});
  vi.advanceTimersByTime(600_000);
  await vi.waitFor(() => expect(willing).toEqual([true]));
  expect(stopped).toEqual([]);
  request.abort();
  expect(stopped).toHaveLength(1);
  expect(ports.over).toHaveBeenCalled();
});

test('the end of the server is the end of what it holds', async () => {
  const { work, stopped } = asking();
  const ending = new AbortController();
  const { held } = hold(work, ending.signal);
  await held.attend(never, () => {});
  ending.abort();
  expect(stopped).toHaveLength(1);
  expect(vi.getTimerCount()).toBe(0);
});

test('no more calls can be held: whoever asks learns it', async () => {
  const work: Work = async ({ person, signal }) => {
    await expect(person?.show(question(), signal)).rejects.toThrow('Too many');
    return done;
  };
  const { held, ports } = hold(work, never, () => Promise.reject(new Error('Too many calls wait already.')));
  expect(await held.attend(never, () => {})).toBe(done);
  expect(ports.hold).not.toHaveBeenCalled();
});

test('reports go to the request that waits now', async () => {
  let report: Parts['progress'] = () => {};
  const { work } = asking();
  const { held } = hold((parts) => {
    report = parts.progress;
    return work(parts);
  });
  const heard: string[] = [];
  await held.attend(never, (message) => heard.push(`1 ${message}`));
  report('lost');
  held.decide(() => true);
  const attended = held.attend(never, (message) => heard.push(`2 ${message}`));
  report('kept');
  await attended;
  expect(heard).toEqual(['2 kept']);
});

test('the words name what it is about, once', () => {
  const words = (prompt: string) => messageFor(question({ prompt })).split('. Open')[0];
  expect(words('Password: ')).toBe('Password (alice@db.example:22)');
  expect(words('Password for alice@db.example:22')).toBe('Password for alice@db.example:22');
});
