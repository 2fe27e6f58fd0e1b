import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keys, never, screenText, Workplace } from '../../support/prompt-desk.ts';
import { answerInBrowser, AskingServer, digestOf, launchBrowser, type Line, modern } from '../../support/asking.ts';
import { typeText } from '../../../src/engine/input/typing.ts';

const secret = 'corréct-hörse-42';
const withLinks = { elicitation: { url: {} } };

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

/** The one question of an answer that asks for input, and its key. */
function onlyRequest(result: Line['result']): [key: string, request: Line] {
  const [only, ...more] = Object.entries(result.inputRequests as Record<string, Line>);
  expect(more).toEqual([]);
  return only ?? ['', {}];
}

const isElicitation = ({ method }: Line): boolean => method === 'elicitation/create';
const accept = (request: Line): object => ({ id: request.id, result: { action: 'accept' } });

describe('a client of 2025-11-25 that can show links', () => {
  test('is asked in the middle of the call; the secret goes from the browser to the tool and nowhere else', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' }, { _meta: { progressToken: 'p' } });
    const request = await server.find(isElicitation);
    expect(request.params).toEqual({
      mode: 'url',
      message: 'password for alice@db.example:22. Open the page to type it; the agent will not see it.',
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ask\/[\w-]{32}$/),
      elicitationId: expect.stringMatching(/./),
    });
    server.send(accept(request));
    await answerInBrowser(browser, request.params.url, secret);
    const { result } = await server.answer('1');
    expect(result.structuredContent).toEqual({ digests: [digestOf(secret)], run: 1 });
    const all = server.lines.map(({ id, method }) => method ?? id);
    expect(all).toContain('notifications/progress');
    // A person who takes long is waited for with more of them.
    const methods = all.filter((method) => method !== 'notifications/progress');
    expect(methods.slice(methods.indexOf('elicitation/create') + 1)).toEqual([
      'notifications/elicitation/complete',
      '1',
    ]);
    const complete = server.lines.find(({ method }) => method === 'notifications/elicitation/complete');
    expect(complete?.params).toEqual({ elicitationId: request.params.elicitationId });
    // It comes through another pipe than the answer.
    await server.until(() => /audit .*"operation":"person.answer".*"characters":16/.test(server.stderr));
    expect(server.leaks(secret)).toEqual([]);
    expect(server.leaks(digestOf(secret))).toEqual(['stdout']);
    // What is looked through is there: the server, a shell started after the answer, and its recording.
    expect(server.leaks('PATH=').filter((place) => place.endsWith('/environ')).length).toBeGreaterThanOrEqual(2);
    await expect.poll(() => server.leaks('"width":').some((place) => place.includes('.cast'))).toBe(true);
  });

  test.each(['decline', 'cancel'])('%s, as clients without a person do: open for `fairlead answer`', async (action) => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' });
    const request = await server.find(isElicitation);
    server.send({ id: request.id, result: { action } });
    const { result } = await server.answer('1');
    expect(result.content[0].text).toMatch(/Ask the person to run `fairlead answer q_\w{8}`, then call again\./);
    expect(result.structuredContent.error).toMatchObject({ code: 'needs_person', question: { declined: true } });
    expect(server.lines.some(({ method }) => method === 'notifications/elicitation/complete')).toBe(false);
    const { id } = result.structuredContent.error.question;
    expect(await server.answerCommand([id], secret)).toMatchObject({ code: 0 });
    server.unlock('2', { subject: 'alice@db.example:22' });
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ digests: [digestOf(secret)] });
  });

  test('time runs out: the call goes on without an answer and the client is told to drop its question', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22', limitMs: 3000 });
    const request = await server.find(isElicitation);
    expect((await server.answer('1')).result.structuredContent).toMatchObject({ digests: [null] });
    await server.find(({ method, params }) => method === 'notifications/cancelled' && params.requestId === request.id);
  });

  test('two questions at a time, and two in one call', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' });
    server.unlock('2', { subject: 'bob@web.example:22', kinds: ['password', 'one_time_code'] });
    const asked = (words: string) =>
      server.find((line) => isElicitation(line) && line.params.message.startsWith(`${words}.`));
    const [alice, bob] = [
      await asked('password for alice@db.example:22'),
      await asked('password for bob@web.example:22'),
    ];
    for (const request of [alice, bob]) server.send(accept(request));
    await answerInBrowser(browser, bob.params.url, 'of bob');
    const code = await asked('one_time_code for bob@web.example:22');
    server.send(accept(code));
    await answerInBrowser(browser, code.params.url, '123456');
    await answerInBrowser(browser, alice.params.url, 'of alice');
    expect((await server.answer('1')).result.structuredContent).toMatchObject({ digests: [digestOf('of alice')] });
    expect((await server.answer('2')).result.structuredContent).toMatchObject({
      digests: [digestOf('of bob'), digestOf('123456')],
    });
  });

  test('answered with `fairlead answer` instead: the client may drop its dialog', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' });
    const request = await server.find(isElicitation);
    expect(await server.answerCommand([], `${secret}\n`)).toMatchObject({ code: 0, err: '' });
    expect((await server.answer('1')).result.structuredContent).toMatchObject({ digests: [digestOf(secret)] });
    await server.find(({ method, params }) => method === 'notifications/cancelled' && params.requestId === request.id);
    expect(server.leaks(secret)).toEqual([]);
  });

  test('a call that is cancelled leaves its question: the answer is there when it is made again', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' });
    const request = await server.find(isElicitation);
    server.send({ method: 'notifications/cancelled', params: { requestId: '1' } });
    await server.find(({ method, params }) => method === 'notifications/cancelled' && params.requestId === request.id);
    await answerInBrowser(browser, request.params.url, secret);
    server.unlock('2', { subject: 'alice@db.example:22' });
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ digests: [digestOf(secret)] });
  });

  test('a client that fails to show it gets the error of one that cannot', async () => {
    await using server = await AskingServer.start();
    await server.initialize(withLinks);
    server.unlock('1', { subject: 'alice@db.example:22' });
    const request = await server.find(isElicitation);
    server.send({ id: request.id, error: { code: -32603, message: 'No browser here' } });
    expect((await server.answer('1')).result.structuredContent.error).toMatchObject({ code: 'needs_person' });
  });
});

describe('a client that can show no links', () => {
  test.each([
    ['none at all', {}],
    ['forms only', { elicitation: {} }],
    ['forms only, said so', { elicitation: { form: {} } }],
  ])('%s: the call fails at once and says what to do; the answer is good for one call', async (_, capabilities) => {
    await using server = await AskingServer.start();
    await server.initialize(capabilities);
    server.unlock('1', { subject: 'alice@db.example:22' });
    const { result } = await server.answer('1');
    expect(result.isError).toBe(true);
    expect(result.content[0].text).toBe(
      'Error: Only the person can answer this: “password for alice@db.example:22”. Ask the person to run ' +
        `\`fairlead answer ${result.structuredContent.error.question.id}\`, then call again. Never ask for the answer itself.`,
    );
    expect(result.structuredContent.error).toMatchObject({
      code: 'needs_person',
      question: { kind: 'password', subject: 'alice@db.example:22' },
    });
    expect(server.lines.some(isElicitation)).toBe(false);
    expect(server.raw.join('')).not.toContain('/ask/');
    const waiting = await server.waiting();
    expect(waiting).toEqual([
      {
        question: result.structuredContent.error.question.id,
        kind: 'password',
        subject: 'alice@db.example:22',
        prompt: 'password for alice@db.example:22',
        secret: true,
        principal: 'owner',
        asker: 'tester',
        since: expect.stringMatching(/Z$/),
        expiresAt: expect.stringMatching(/Z$/),
        pid: server.child.pid,
      },
    ]);
    const answered = await server.answerCommand(['--json'], `${secret}\n`);
    expect(answered).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(answered.out)).toEqual({ answered: true, ...waiting[0] });
    expect(server.leaks(secret)).toEqual([]);
    server.unlock('2', { subject: 'alice@db.example:22' });
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ digests: [digestOf(secret)] });
    server.unlock('3', { subject: 'alice@db.example:22' });
    expect((await server.answer('3')).result.structuredContent.error).toMatchObject({ code: 'needs_person' });
    expect(server.leaks(secret)).toEqual([]);
  });

  test('a person at a terminal sees who asks what, and nothing of what they type', async () => {
    await using server = await AskingServer.start();
    await server.initialize({});
    server.unlock('1', { subject: 'alice@db.example:22' });
    server.unlock('2', { subject: 'bob@web.example:22' });
    await Promise.all([server.answer('1'), server.answer('2')]);
    const several = await server.answerCommand([], 'x');
    expect(several).toMatchObject({ code: 2, err: expect.stringContaining('Several questions wait. Say which') });
    expect(several.err).toMatch(
      /q_\w{8} {2}bob@web.example:22, password, for tester, process \d+\n {2}password for bob/,
    );
    await using place = await Workplace.open();
    const person = await place.shell();
    const variables = `HOME=${server.home} FAIRLEAD_HOME=${server.home}/.fairlead NO_COLOR=1`;
    const program = join(import.meta.dirname, '..', '..', '..', 'bin', 'fairlead.js');
    await typeText(person, `${variables} ${process.execPath} ${program} answer bob@web.example:22`, keys, never);
    await expect.poll(() => screenText(person)).toContain('(your answer is not shown)');
    await person.input.send(Buffer.from(`wrong\x15${secret}é\x7f\r`), 'person', never);
    await expect.poll(() => screenText(person)).toContain('Answered for bob@web.example:22.');
    expect(await screenText(person)).toMatch(
      /q_\w{8} Fairlead, called by tester, asks:\n {2}password for bob@web\.example:22\n\(your answer is not shown\)\n\nAnswered/,
    );
    expect(await screenText(person)).not.toContain(secret);
    server.unlock('3', { subject: 'bob@web.example:22' });
    expect((await server.answer('3')).result.structuredContent).toMatchObject({ digests: [digestOf(secret)] });
    expect(await server.waiting()).toMatchObject([{ subject: 'alice@db.example:22' }]);
    expect(await server.answerCommand(['nosuch'], 'x')).toMatchObject({ code: 4 });
  });

  test('a question that is too old is gone', async () => {
    await using server = await AskingServer.start();
    await server.initialize({});
    server.unlock('1', { subject: 'alice@db.example:22', limitMs: 300 });
    const { question } = (await server.answer('1')).result.structuredContent.error;
    await expect.poll(async () => (await server.answerCommand(['--list'])).code).toBe(4);
    expect(await server.answerCommand([question.id], 'x')).toMatchObject({ code: 4 });
  });
});

describe('a client of 2026-07-28', () => {
  const call = (server: AskingServer, id: string, input: object, more: object = {}, capabilities: object = withLinks) =>
    server.unlock(id, input, { ...modern(capabilities), ...more });

  test('is told that input is required, and goes on with the same call', async () => {
    await using server = await AskingServer.start();
    const input = { subject: 'alice@db.example:22', kinds: ['password', 'one_time_code'] };
    call(server, '1', input);
    const { result: first } = await server.answer('1');
    expect(first).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^held\./) });
    const [key, request] = onlyRequest(first);
    expect(request).toEqual({
      method: 'elicitation/create',
      params: {
        mode: 'url',
        message: 'password for alice@db.example:22. Open the page to type it; the agent will not see it.',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/ask\//),
        // Copilot CLI fails without it, and shows its model the page.
        elicitationId: key,
      },
    });
    const { requestState } = first;
    call(server, '2', input, { requestState, inputResponses: { [key]: { action: 'accept' } } });
    await answerInBrowser(browser, request.params.url, secret);
    const { result: second } = await server.answer('2');
    expect(second).toMatchObject({ resultType: 'input_required', requestState });
    const [codeKey, code] = onlyRequest(second);
    expect(codeKey).not.toBe(key);
    // Without an answer to it, the question is put again.
    call(server, '3', { ...input }, { requestState, inputResponses: { [key]: { action: 'accept' } } });
    expect((await server.answer('3')).result).toEqual(second);
    await answerInBrowser(browser, code.params.url, '123456');
    call(server, '4', input, { requestState, inputResponses: { [codeKey]: { action: 'accept' } } });
    const { result: last } = await server.answer('4');
    expect(last.structuredContent).toEqual({ digests: [digestOf(secret), digestOf('123456')], run: 1 });
    expect(server.leaks(secret)).toEqual([]);
    call(server, '5', input, { requestState });
    expect((await server.answer('5')).result).toMatchObject({
      isError: true,
      content: [{ text: 'Error: This call no longer waits for an answer. Call again.' }],
    });
  });

  test('declines: told what to do, and the question stays open for `fairlead answer`', async () => {
    await using server = await AskingServer.start();
    const input = { subject: 'alice@db.example:22' };
    call(server, '1', input);
    const { requestState, inputRequests } = (await server.answer('1')).result;
    const [key = ''] = Object.keys(inputRequests);
    call(server, '2', input, { requestState, inputResponses: { [key]: { action: 'decline' } } });
    const { result } = await server.answer('2');
    expect(result.structuredContent.error).toMatchObject({
      code: 'needs_person',
      question: { id: key, declined: true },
    });
    expect(await server.answerCommand([key], secret)).toMatchObject({ code: 0 });
    call(server, '3', input);
    expect((await server.answer('3')).result.structuredContent).toEqual({ digests: [digestOf(secret)], run: 2 });
  });

  test('cannot go on with another call, nor with a state it made up', async () => {
    await using server = await AskingServer.start();
    call(server, '1', { subject: 'alice@db.example:22' });
    const { requestState, inputRequests } = (await server.answer('1')).result;
    const [key = ''] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept' } };
    call(server, '2', { subject: 'bob@web.example:22' }, { requestState, inputResponses });
    call(server, '3', { subject: 'alice@db.example:22' }, { requestState: `held.${'A'.repeat(32)}`, inputResponses });
    for (const id of ['2', '3'])
      expect((await server.answer(id)).result.structuredContent.error.code).toBe('cancelled');
    await server.answerCommand([], secret);
    call(server, '4', { subject: 'alice@db.example:22' }, { requestState, inputResponses });
    expect((await server.answer('4')).result.structuredContent).toEqual({ digests: [digestOf(secret)], run: 1 });
  });

  test('that can show no links gets the error', async () => {
    await using server = await AskingServer.start();
    call(server, '1', { subject: 'alice@db.example:22' }, {}, { elicitation: { form: {} } });
    expect((await server.answer('1')).result.structuredContent.error).toMatchObject({ code: 'needs_person' });
  });
});

describe('over HTTP', () => {
  const post = async (server: AskingServer, id: string, input: object, more: object, host?: string) => {
    const url = /http (http:\S+)/.exec(server.stderr)?.[1] ?? '';
    const params = { name: 'vault_unlock', arguments: input, ...modern(withLinks), ...more };
    const { request } = await import('node:http');
    return await new Promise<Line>((resolve, reject) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'vault_unlock',
        ...(host !== undefined && { host }),
      };
      const sent = request(url, { method: 'POST', headers }, (response) => {
        let text = '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => {
          const json = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}');
          resolve(JSON.parse(json) as Line);
        });
      });
      sent.on('error', reject);
      sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }));
    });
  };

  test('each request has a server of its own, and the call goes on all the same', async () => {
    await using server = await AskingServer.start();
    const input = { subject: 'alice@db.example:22' };
    const { result } = await post(server, '1', input, {});
    expect(result).toMatchObject({ resultType: 'input_required' });
    const [key, request] = onlyRequest(result);
    const inputResponses = { [key]: { action: 'accept' } };
    const last = post(server, '2', input, { requestState: result.requestState, inputResponses });
    await answerInBrowser(browser, request.params.url, secret);
    expect((await last).result.structuredContent).toEqual({ digests: [digestOf(secret)], run: 1 });
    expect(server.leaks(secret)).toEqual([]);
  });

  test('a client on another machine is shown no link to this one', async () => {
    await using server = await AskingServer.start();
    const { result } = await post(server, '1', { subject: 'alice@db.example:22' }, {}, 'hub.example');
    expect(result.structuredContent.error).toMatchObject({ code: 'needs_person' });
  });
});
