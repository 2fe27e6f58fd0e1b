import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answerInBrowser, AskingServer, launchBrowser, modern } from '../../support/asking.ts';
import { isRoot, startSshd } from '../../support/ssh/sshd.ts';

let browser: Awaited<ReturnType<typeof launchBrowser>>;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
});

const withLinks = { elicitation: { url: {} } };
const ways = [
  ['password', { password: true }],
  ['keyboard-interactive', { keyboardInteractive: true }],
] as const;

// Only root can make a user with a known password.
describe.runIf(isRoot).each(ways)('9.1: a host that takes nothing but a password (%s)', (_, options) => {
  test('2025-11-25: the person is asked for it, the session is there, and the password is nowhere', async () => {
    await using sshd = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
    await using server = await AskingServer.start('product');
    await server.initialize(withLinks);
    server.call('1', 'ssh_connect', { address: sshd.address, username: sshd.user });
    const wrong = await server.find(({ method }) => method === 'elicitation/create');
    expect(wrong.params.message).toContain(`${sshd.user}@${sshd.address}`);
    server.send({ id: wrong.id, result: { action: 'accept' } });
    await answerInBrowser(browser, wrong.params.url, 'not it');
    const right = await server.find(({ id, method }) => method === 'elicitation/create' && id !== wrong.id);
    server.send({ id: right.id, result: { action: 'accept' } });
    await answerInBrowser(browser, right.params.url, sshd.password);
    const { result } = await server.answer('1');
    expect(result.structuredContent).toMatchObject({ tool: 'ssh_connect', username: sshd.user, port: sshd.port });
    expect(result.isError ?? false).toBe(false);
    expect(server.leaks(sshd.password)).toEqual([]);
    expect(server.leaks('not it')).toEqual([]);
  });

  test('2026-07-28: the same, by input_required', async () => {
    await using sshd = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
    await using server = await AskingServer.start('product');
    const input = { address: sshd.address, username: sshd.user };
    server.call('1', 'ssh_connect', input, modern(withLinks));
    const { requestState, inputRequests } = (await server.answer('1')).result;
    const [key = ''] = Object.keys(inputRequests);
    const inputResponses = { [key]: { action: 'accept' } };
    server.call('2', 'ssh_connect', input, { ...modern(withLinks), requestState, inputResponses });
    await answerInBrowser(browser, inputRequests[key].params.url, sshd.password);
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ username: sshd.user });
    expect(server.leaks(sshd.password)).toEqual([]);
  });

  test('a client without links: told what to do, and the next call logs in', async () => {
    await using sshd = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
    await using server = await AskingServer.start('product');
    await server.initialize({});
    const input = { address: sshd.address, username: sshd.user };
    server.call('1', 'ssh_connect', input);
    const { result } = await server.answer('1');
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'AUTH_FAILED', retryable: true } });
    const [, line = ''] = /Ask the person to run `(.+)`, then call again\./.exec(result.content[0].text) ?? [];
    expect(result.structuredContent.detail).toContain(line);
    await expect.poll(() => server.answerCommand(['--list']), { timeout: 20_000 }).toMatchObject({ code: 0 });
    // The line works as it stands, in a shell without our variables.
    const env = { PATH: process.env['PATH'], HOME: server.home };
    const said = execFileSync('sh', ['-c', line], { env, input: sshd.password, encoding: 'utf8' });
    expect(said).toContain(`Answered for ${sshd.user}@`);
    server.call('2', 'ssh_connect', input);
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ username: sshd.user, port: sshd.port });
    expect(server.leaks(sshd.password)).toEqual([]);
  });

  test('a host that hangs up while the person thinks: the call says so, and the late answer is there for the next', async () => {
    await using sshd = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
    await using server = await AskingServer.start('product');
    await server.initialize(withLinks);
    const input = { address: sshd.address, username: sshd.user };
    server.call('1', 'ssh_connect', input);
    const { id, params } = await server.find(({ method }) => method === 'elicitation/create');
    // As at the end of its LoginGraceTime, which on a busy machine may be over before the question is there.
    sshd.cut();
    const { result } = await server.answer('1');
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'AUTH_FAILED', retryable: true } });
    expect(result.content[0].text).toContain('closed the connection before the person had answered');
    await server.find(({ method, params: about }) => method === 'notifications/cancelled' && about.requestId === id);
    await answerInBrowser(browser, params.url, sshd.password);
    server.call('2', 'ssh_connect', input);
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ status: 'ok', username: sshd.user });
    expect(server.lines.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1);
    expect(server.leaks(sshd.password)).toEqual([]);
  });

  test('declined by the client: the call says so, and the person can still answer', async () => {
    await using sshd = await startSshd({ ...options, config: ['PubkeyAuthentication no'] });
    await using server = await AskingServer.start('product');
    await server.initialize(withLinks);
    server.call('1', 'ssh_connect', { address: sshd.address, username: sshd.user });
    const request = await server.find(({ method }) => method === 'elicitation/create');
    server.send({ id: request.id, result: { action: 'decline' } });
    const { result } = await server.answer('1');
    expect(result).toMatchObject({ isError: true, structuredContent: { code: 'AUTH_FAILED' } });
    expect(server.lines.filter(({ method }) => method === 'elicitation/create')).toHaveLength(1);
    const { id } = result.structuredContent.question;
    await expect.poll(() => server.answerCommand([id], sshd.password), { timeout: 20_000 }).toMatchObject({ code: 0 });
    server.call('2', 'ssh_connect', { address: sshd.address, username: sshd.user });
    expect((await server.answer('2')).result.structuredContent).toMatchObject({ status: 'ok', username: sshd.user });
  });
});
