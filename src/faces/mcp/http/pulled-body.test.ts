import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { PulledBody } from './pulled-body.ts';

let write: (text: string) => void;
let close: () => void;
let cancelled: boolean;
const bytes = new TextEncoder();

function eventStream(): Response {
  cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      write = (text) => controller.enqueue(bytes.encode(text));
      close = () => controller.close();
    },
    cancel() {
      cancelled = true;
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const reading = ({ response }: PulledBody): (() => Promise<string | undefined>) => {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  return async () => {
    const { value } = await reader.read();
    return value && new TextDecoder().decode(value);
  };
};

test('it is drained when its reader took everything and waits for more', async () => {
  const body = new PulledBody(eventStream(), () => {});
  const read = reading(body);
  write('one');
  write('two');
  let isDrained = false;
  const drained = body.drained().then((answer) => {
    isDrained = true;
    return answer;
  });
  expect(await read()).toBe('one');
  expect(await read()).toBe('two');
  expect(isDrained).toBe(false);
  const next = read();
  expect(await drained).toBe(true);
  write('three');
  expect(await next).toBe('three');
});

test('its end answers who waits, and calls back once', async () => {
  for (const end of ['close', 'cancel'] as const) {
    const done = vi.fn<() => void>();
    const body = new PulledBody(eventStream(), done);
    write('one');
    const drained = body.drained();
    if (end === 'cancel') await body.response.body?.cancel();
    else {
      close();
      expect(await body.response.text()).toBe('one');
    }
    expect(await drained).toBe(false);
    expect(cancelled).toBe(end === 'cancel');
    expect(done).toHaveBeenCalledOnce();
    expect(vi.getTimerCount()).toBe(0);
  }
});

test('signs of life go to a reader that waits, and pile up for none that does not', async () => {
  const body = new PulledBody(eventStream(), () => {});
  const read = reading(body);
  vi.advanceTimersByTime(60_000);
  const next = read();
  expect(await body.drained()).toBe(true);
  vi.advanceTimersByTime(15_000);
  expect(await next).toBe(': keepalive\n\n');
  // Nothing is read for an hour: at most one more waits.
  vi.advanceTimersByTime(3_600_000);
  write('news');
  expect(await read()).toBe(': keepalive\n\n');
  expect(await read()).toBe('news');
});

test('a response without a body is over at once', async () => {
  const done = vi.fn<() => void>();
  const body = new PulledBody(new Response(null, { status: 202 }), done);
  expect(done).toHaveBeenCalledOnce();
  expect(await body.drained()).toBe(false);
});
