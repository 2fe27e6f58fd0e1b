import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { shortest } from '../../support/shortest.ts';
import { conformanceResources, conformanceSurface } from '../../support/mcp/conformance-surface.ts';
import { envelope, initialize, initialized, toolCall, wire } from '../../support/mcp/wire.ts';
import { workshop } from '../../support/mcp/workshop.ts';

describe('the handshake', () => {
  test.each(['2025-06-18', '2025-11-25', '2025-03-26', '2024-11-05'])(
    'initialize of %s (R-TERM-110)',
    async (version) => {
      await using line = wire(workshop().surface);
      line.send(initialize(version));
      expect(await line.answer(0)).toEqual({
        jsonrpc: '2.0',
        id: 0,
        result: {
          protocolVersion: version,
          capabilities: { tools: { listChanged: true }, prompts: {} },
          serverInfo: { name: 'fairlead', version: '1.2.3' },
          instructions: 'Use it well.',
        },
      });
    },
  );

  test('a version nobody knows is answered with the newest of that era', async () => {
    await using line = wire(workshop().surface);
    line.send(initialize('1999-01-01'));
    expect((await line.answer(0)).result.protocolVersion).toBe('2025-11-25');
  });

  test('2026-07-28: server/discover, then a call without any handshake', async () => {
    await using line = wire(workshop().surface);
    line.send({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope } });
    const { result } = await line.answer(1);
    expect(result).toMatchObject({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, prompts: {} },
      instructions: 'Use it well.',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'fairlead', version: '1.2.3' } },
    });
    line.send(toolCall(2, 'paper_write', { line: 'hi' }, envelope));
    expect((await line.answer(2)).result).toMatchObject({
      resultType: 'complete',
      content: [{ type: 'text', text: 'Wrote 1 line.' }],
      structuredContent: { text: 'hi\n', lines: 1 },
    });
  });

  test('2026-07-28: the very first message may be a call', async () => {
    await using line = wire(workshop().surface);
    line.send(toolCall(7, 'paper_write', { line: 'hi' }, envelope));
    expect((await line.answer(7)).result.structuredContent).toEqual({ text: 'hi\n', lines: 1 });
  });

  test('2026-07-28: an unknown version is refused, be it in the first message or later', async () => {
    await using line = wire(workshop().surface);
    const later = { ...envelope, 'io.modelcontextprotocol/protocolVersion': '2027-01-01' };
    const asked = [
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: later } },
      { jsonrpc: '2.0', id: 2, method: 'tools/list', params: { _meta: envelope } },
      { jsonrpc: '2.0', id: 3, method: 'tools/list', params: { _meta: later } },
      { jsonrpc: '2.0', id: 4, method: 'server/discover', params: { _meta: later } },
      toolCall(5, 'paper_write', { line: 'hi' }, later),
      toolCall(6, 'paper_write', { line: 'hi' }, envelope),
    ];
    for (const message of asked) line.send(message);
    const data = { supported: ['2026-07-28'], requested: '2027-01-01' };
    const first = await line.answer(1);
    expect(first.error).toMatchObject({ code: -32022, data });
    for (const id of [3, 4, 5]) expect((await line.answer(id)).error).toEqual(first.error);
    for (const id of [2, 6]) expect((await line.answer(id)).error).toBeUndefined();
  });

  test('a client that probes with server/discover may still fall back to initialize', async () => {
    await using line = wire(workshop().surface);
    line.send({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: envelope } });
    await line.answer(1);
    line.send(initialize('2025-11-25'));
    expect((await line.answer(0)).result.protocolVersion).toBe('2025-11-25');
  });
});

describe('bad input', () => {
  test('garbage, blank lines and batches are answered or skipped, and the connection lives on', async () => {
    await using line = wire(workshop().surface);
    line.send('this is not JSON');
    line.send('');
    line.send('[{"jsonrpc":"2.0","id":1,"method":"ping"}]');
    line.send('{"jsonrpc":"2.0","id":"odd","method":17}');
    line.send('{"id":5}');
    line.send(initialize('2025-11-25'));
    await line.answer(0);
    expect(line.lines.slice(0, -1).map((text) => JSON.parse(text) as unknown)).toEqual([
      { jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error: not JSON' } },
      { jsonrpc: '2.0', id: null, error: { code: -32600, message: 'Invalid request: not a JSON-RPC 2.0 message' } },
      { jsonrpc: '2.0', id: 'odd', error: { code: -32600, message: 'Invalid request: not a JSON-RPC 2.0 message' } },
      { jsonrpc: '2.0', id: 5, error: { code: -32600, message: 'Invalid request: not a JSON-RPC 2.0 message' } },
    ]);
  });

  test('a line over 16 MiB is refused without being kept; the next one is served', async () => {
    await using line = wire(workshop().surface);
    const block = Buffer.alloc(1 << 20, 'x');
    for (let sent = 0; sent <= 16; sent++) if (!line.stdin.write(block)) await once(line.stdin, 'drain');
    line.send('');
    line.send(initialize('2025-11-25'));
    expect((await line.answer(null)).error?.message).toBe('Parse error: a message may have at most 16777216 bytes');
    expect((await line.answer(0)).result.protocolVersion).toBe('2025-11-25');
  });

  test('a call over 16 MiB is refused by its id, wherever the client writes that', async () => {
    await using line = wire(workshop().surface);
    const text = 'x'.repeat(17 << 20);
    line.send(`{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"id":1,"text":"${text}"}}`);
    line.send(`{"method":"tools/call","params":{"text":"${text}","id":1},"jsonrpc":"2.0","id":"last"}`);
    const message = 'Parse error: a message may have at most 16777216 bytes';
    for (const id of ['first', 'last']) expect((await line.answer(id)).error).toEqual({ code: -32700, message });
    line.send(initialize('2025-11-25'));
    expect((await line.answer(0)).result.protocolVersion).toBe('2025-11-25');
  });

  test('characters cut apart by chunks arrive whole', async () => {
    await using line = wire(workshop().surface);
    const bytes = Buffer.from(`${JSON.stringify(toolCall(1, 'paper_write', { line: 'žluť 🐎' }, envelope))}\n`);
    for (const byte of bytes) line.stdin.write(Buffer.of(byte));
    expect((await line.answer(1)).result.structuredContent.text).toBe('žluť 🐎\n');
  });

  test('more than a thousand calls in flight: the next is refused, not queued', async () => {
    await using line = wire(workshop().surface);
    line.send(initialize('2025-11-25'));
    await line.answer(0);
    for (let id = 1; id <= 1001; id++) line.send(toolCall(id, 'clock_wait'));
    const refused = await line.answer(1001);
    expect(refused.error?.message).toBe('More than 1000 calls in flight. Wait for answers first.');
  });
});

describe('the end', () => {
  test('a 5 MB answer, then end of input: it arrives whole, through a real pipe (R-TERM-142)', async () => {
    const cat = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
    const line = wire(workshop().surface, { stdout: cat.stdin, from: cat.stdout });
    line.send(initialize('2025-11-25'));
    line.send(initialized);
    line.send(toolCall(1, 'readPaper', { length: 5 << 20 }));
    line.stdin.end();
    await line.served;
    cat.stdin.end();
    await once(cat, 'close');
    const { result } = await line.answer(1);
    expect(result.content[0].text).toBe('0123456789abcdef'.repeat((5 << 20) / 16));
    expect(result.structuredContent.text).toHaveLength(5 << 20);
  });

  test('end of input in the middle of a wait: the call is told to stop and answers, within 2 s (R-TERM-140)', async () => {
    const ended = async (): Promise<number> => {
      const { surface, waiting, stopped } = workshop();
      const line = wire(surface);
      line.send(initialize('2025-11-25'));
      line.send(toolCall(1, 'clock_wait'));
      await waiting;
      const began = performance.now();
      line.stdin.end();
      await line.served;
      const ms = performance.now() - began;
      expect(await stopped).toEqual(new Error('The client closed the connection.'));
      expect((await line.answer(1)).result.content).toEqual([{ type: 'text', text: 'clock: The call was cancelled.' }]);
      return ms;
    };
    expect(await shortest(2000, ended)).toBeLessThan(2000);
  });

  test('the end of input is noticed while more than 64 MiB of answers are unread (R-TERM-140)', async () => {
    const stdout = new Writable({ highWaterMark: 1, write: () => {} });
    const held = new EventEmitter();
    let isGone = false;
    const hungUp = (): boolean => {
      held.emit('asked');
      return isGone;
    };
    const line = wire(workshop().surface, { stdout, from: new PassThrough(), hungUp });
    line.send(initialize('2025-11-25'));
    line.send(toolCall(1, 'readPaper', { length: 33 << 20 }));
    await once(held, 'asked');
    expect(line.stdin.isPaused()).toBe(true);
    isGone = true;
    await line.served;
  });

  test('time that calls did not need is there for writing their answers', async () => {
    const unread: (() => void)[] = [];
    const slow = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => void unread.push(done) });
    const patience = { finishMs: 20, stopMs: 20, totalMs: 60_000 };
    const line = wire(workshop().surface, { stdout: slow, patience });
    line.send(initialize('2025-11-25'));
    await expect.poll(() => unread.length).toBe(1);
    line.stdin.end();
    let over = false;
    const served = line.served.then(() => (over = true));
    // Long after the calls had their time.
    await delay(200);
    expect(over).toBe(false);
    unread[0]?.();
    await served;
  });

  /** Takes what it gets at its own pace, and from the given byte on nothing more. */
  function slowReader(takesBytes = Number.POSITIVE_INFINITY): { stdout: Writable; taken: () => number } {
    const msPerByte = 20 / (64 << 10);
    let taken = 0;
    const stdout = new Writable({
      highWaterMark: 1,
      write: (chunk: Buffer, _encoding, done) => {
        if (taken >= takesBytes) return;
        setTimeout(() => {
          taken += chunk.length;
          done();
        }, chunk.length * msPerByte);
      },
    });
    return { stdout, taken: () => taken };
  }

  test('R-TERM-142: a slow client has its last answer whole, long after the time of one that takes nothing', async () => {
    const { stdout, taken } = slowReader();
    const errors: Error[] = [];
    let flows = 0;
    const line = wire(workshop().surface, {
      stdout,
      from: new PassThrough(),
      patience: { totalMs: 200, stallMs: 30_000 },
      onFlow: () => (flows += 1),
      onError: (error) => errors.push(error),
    });
    line.send(initialize('2025-11-25'));
    line.send(toolCall(1, 'readPaper', { length: 1 << 20 }));
    line.stdin.end();
    await line.served;
    expect(errors).toEqual([]);
    // The text is in both halves of the answer.
    expect(taken()).toBeGreaterThan(2 << 20);
    expect(flows).toBeGreaterThan(30);
  });

  test('R-TERM-142: a client that stops reading is not waited for, and stderr is told', async () => {
    const { stdout } = slowReader(256 << 10);
    const errors: string[] = [];
    const line = wire(workshop().surface, {
      stdout,
      from: new PassThrough(),
      patience: { totalMs: 200, stallMs: 500 },
      onError: ({ message }) => errors.push(message),
    });
    line.send(initialize('2025-11-25'));
    line.send(toolCall(1, 'readPaper', { length: 1 << 20 }));
    line.stdin.end();
    await line.served;
    expect(errors).toEqual([expect.stringContaining('The last answers were cut off')]);
  });

  test('nothing in flight: end of input ends at once', async () => {
    const line = wire(workshop().surface, { patience: { finishMs: 60_000, stopMs: 60_000, totalMs: 60_000 } });
    line.send(initialize('2025-11-25'));
    await line.answer(0);
    line.stdin.end();
    await line.served;
    expect(line.lines).toHaveLength(1);
  });

  test('an open subscription does not hold up the end', async () => {
    const fake = conformanceResources();
    const patience = { finishMs: 60_000, stopMs: 60_000, totalMs: 60_000 };
    const line = wire(conformanceSurface(fake), { patience });
    const params = { _meta: envelope, notifications: { resourceSubscriptions: ['test://watched-resource'] } };
    line.send({ jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params });
    await line.find(({ method }) => method === 'notifications/subscriptions/acknowledged');
    fake.changed('test://other');
    fake.changed('test://watched-resource');
    const told = await line.find(({ method }) => method === 'notifications/resources/updated');
    expect(told.params?.['uri']).toBe('test://watched-resource');
    line.stdin.end();
    await line.served;
    expect(fake.clients.size).toBe(0);
  });

  test('the signal ends it too, without waiting for calls to finish by themselves', async () => {
    const { surface, waiting, stopped } = workshop();
    const stop = new AbortController();
    const line = wire(surface, { signal: stop.signal, patience: { finishMs: 60_000 } });
    line.send(toolCall(1, 'clock_wait', {}, envelope));
    await waiting;
    stop.abort();
    await line.served;
    await stopped;
    expect((await line.answer(1)).result.isError).toBe(true);
  });

  test('a reader that goes away ends it quietly', async () => {
    const cat = spawn('cat', { stdio: ['pipe', 'pipe', 'ignore'] });
    const { surface, waiting, stopped } = workshop();
    const line = wire(surface, { stdout: cat.stdin, from: cat.stdout });
    line.send(toolCall(1, 'clock_wait', {}, envelope));
    await waiting;
    cat.kill('SIGKILL');
    await once(cat, 'close');
    line.send(toolCall(2, 'paper_write', { line: 'into the void' }, envelope));
    await line.served;
    await stopped;
  });
});

describe('during a call', () => {
  test('notifications/cancelled reaches the signal, and the call goes unanswered', async () => {
    const { surface, waiting, stopped } = workshop();
    await using line = wire(surface);
    line.send(initialize('2025-11-25'));
    line.send(toolCall(1, 'clock_wait'));
    expect((await waiting).name).toBe('wire');
    line.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1, reason: 'enough' } });
    await stopped;
    line.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
    await line.answer(2);
    expect(line.lines).toHaveLength(2);
  });

  test('progress goes to a client that gave a token, counts up, and comes before the answer', async () => {
    await using line = wire(workshop().surface);
    line.send(initialize('2025-11-25'));
    line.send(toolCall(1, 'clock_report', { reports: 3 }, { progressToken: 'p1' }));
    await line.answer(1);
    const messages = line.lines.slice(1).map((text) => JSON.parse(text) as { method?: string; params?: object });
    expect(messages.slice(0, 3).map(({ params }) => params)).toEqual([
      { progressToken: 'p1', progress: 1, message: 'report 1' },
      { progressToken: 'p1', progress: 2, message: 'report 2' },
      { progressToken: 'p1', progress: 3, message: 'report 3' },
    ]);
    line.send(toolCall(2, 'clock_report', { reports: 3 }));
    await line.answer(2);
    expect(line.lines).toHaveLength(6);
  });

  test('every line on stdout is one JSON-RPC message (R-TERM-010)', async () => {
    await using line = wire(workshop().surface);
    line.send(initialize('2025-11-25'));
    line.send('rubbish');
    line.send(toolCall(1, 'paper_write', { line: 'two\nlines\u2028and more' }));
    line.send(toolCall(2, 'paper_burn'));
    line.send({ jsonrpc: '2.0', id: 3, method: 'tools/list' });
    line.send({ jsonrpc: '2.0', id: 4, method: 'no/such/method' });
    await Promise.all([1, 2, 3, 4].map((id) => line.answer(id)));
    for (const text of line.lines) expect((JSON.parse(text) as { jsonrpc: string }).jsonrpc).toBe('2.0');
    expect(line.lines).toHaveLength(6);
  });
});
