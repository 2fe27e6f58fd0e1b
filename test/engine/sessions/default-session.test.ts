import { Client, StreamableHTTPClientTransport, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Served } from '../../support/served.ts';

// Agents of one `fairlead serve`: each has a default terminal of its own, and who shares one with another is told.

let served: Served;
beforeAll(async () => {
  served = await Served.start();
}, 60_000);
afterAll(() => served[Symbol.asyncDispose]());

interface Answer {
  readonly text: string;
  readonly facts: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

class Agent implements AsyncDisposable {
  readonly #client: Client;
  readonly #transport: StreamableHTTPClientTransport;

  private constructor(client: Client, transport: StreamableHTTPClientTransport) {
    this.#client = client;
    this.#transport = transport;
  }

  static async connect(name: string, mode: VersionNegotiationMode = 'legacy'): Promise<Agent> {
    const client = new Client({ name, version: '1' }, { versionNegotiation: { mode } });
    const transport = new StreamableHTTPClientTransport(new URL(served.url), {
      requestInit: { headers: { Authorization: `Bearer ${served.token}`, Connection: 'close' } },
    });
    await client.connect(transport);
    return new Agent(client, transport);
  }

  async call(name: string, input: Record<string, unknown> = {}, _meta?: Record<string, unknown>): Promise<Answer> {
    const result = await this.#client.callTool({ name, arguments: input, ...(_meta && { _meta }) });
    const content = result.content as { text?: string }[];
    return {
      text: content.map((part) => part.text ?? '').join('\n'),
      facts: (result.structuredContent ?? {}) as Record<string, unknown>,
      isError: result.isError === true,
    };
  }

  async run(command: string, input: Record<string, unknown> = {}, meta?: Record<string, unknown>): Promise<Answer> {
    const answer = await this.call('terminal_run', { command, ...input }, meta);
    expect(answer).toMatchObject({ isError: false, facts: { state: 'done' } });
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#transport.terminateSession().catch(() => {});
    await this.#client.close();
  }
}

const told = (answer: Answer): readonly string[] => {
  const notices = (answer.facts['notices'] ?? []) as string[];
  for (const notice of notices) expect(answer.text).toContain(notice);
  if (notices.length === 0) expect(answer.text).not.toContain('Note: ');
  return notices;
};

describe('2025 sessions', () => {
  test('two agents that name no terminal have one each; listing shows each its own as the default', async () => {
    await using one = await Agent.connect('one');
    await using two = await Agent.connect('two');
    const [first, second] = await Promise.all([one.run('whose=one; echo $whose'), two.run('echo "[$whose]"')]);
    expect(first?.facts['terminal']).not.toBe(second?.facts['terminal']);
    expect((await one.run('echo "[$whose]"')).facts['output']).toContain('[one]');
    expect((await two.run('echo "[$whose]"')).facts['output']).toContain('[]');
    for (const [agent, answer] of [
      [one, first],
      [two, second],
    ] as const) {
      const { terminals } = (await agent.call('terminal_list')).facts as { terminals: Record<string, unknown>[] };
      const defaults = terminals.filter(({ isDefault }) => isDefault === true);
      expect(defaults.map(({ terminal }) => terminal)).toEqual([answer?.facts['terminal']]);
    }
  });

  test('an agent that joins the terminal of another is told so once, in both halves, and so is the other', async () => {
    await using one = await Agent.connect('first-agent');
    await using two = await Agent.connect('second-agent');
    const { facts } = await one.call('terminal_open', { name: 'build' });
    const terminal = facts['terminal'] as string;
    const joined = await two.run('echo hello', { terminal });
    expect(told(joined)).toEqual([
      `Another client ("first-agent") also uses terminal ${terminal}: you share its screen and its input. ` +
        'Leave the terminal out of your calls to use one of your own.',
    ]);
    expect(told(await two.run('echo again', { terminal }))).toEqual([]);
    const back = await one.call('terminal_read', { terminal });
    expect(told(back)).toEqual([expect.stringContaining('Another client ("second-agent") also uses')]);
    expect(told(await one.run('echo mine', { terminal }))).toEqual([]);
  });

  test('a documented text stays as it is: what is told of others is a piece of its own', async () => {
    await using one = await Agent.connect('typist');
    await using two = await Agent.connect('reader');
    const { facts } = await one.call('createSession', {});
    const answer = await two.call('type', { text: ': ok', sessionId: facts['sessionId'] });
    expect(answer.text.split('\n')[0]).toBe('Typed 4 character(s) to terminal');
    expect(told(answer)).toEqual([expect.stringContaining('("typist")')]);
  });

  test('the terminal of a client that has left goes on: the next one gets it, and is told', async () => {
    const first = await Agent.connect('early');
    const { facts } = await first.run('left=behind');
    // Only the first client there has the default session of the instance; another test may have it.
    const isInstance = ((await first.call('listSessions')).facts['sessions'] as { sessionId: string; rpcId: number }[])
      .filter(({ sessionId }) => sessionId === facts['terminal'])
      .every(({ rpcId }) => rpcId === 0);
    expect(isInstance).toBe(true);
    await first[Symbol.asyncDispose]();
    await using later = await Agent.connect('late');
    const answer = await later.run('echo "[$left]"');
    expect(answer.facts).toMatchObject({ terminal: facts['terminal'], output: expect.stringContaining('[behind]') });
    expect(told(answer)[0]).toContain('was used before by a client that has left (');
    expect(told(answer)[0]).toContain('"early"');
  });
});

describe('2026 requests without sessions', () => {
  test('agents of different names have one terminal each', async () => {
    await using one = await Agent.connect('red', { pin: '2026-07-28' });
    await using two = await Agent.connect('blue', { pin: '2026-07-28' });
    const first = await one.run('echo red');
    const second = await two.run('echo blue');
    expect(first.facts['terminal']).not.toBe(second.facts['terminal']);
    expect((await one.run('echo again')).facts['terminal']).toBe(first.facts['terminal']);
  });

  test('two of one name cannot be told apart but by connection: the second is told it may share', async () => {
    await using one = await Agent.connect('twin', { pin: '2026-07-28' });
    await using two = await Agent.connect('twin', { pin: '2026-07-28' });
    const first = await one.run('echo 1');
    const second = await two.run('echo 2');
    expect(second.facts['terminal']).toBe(first.facts['terminal']);
    expect(told(second)[0]).toContain('Open another terminal and pass its id to work alone.');
  });

  test('the id of a conversation tells two of one name apart', async () => {
    await using one = await Agent.connect('twin', { pin: '2026-07-28' });
    const first = await one.run('echo 1', {}, { 'fairlead/client': 'a' });
    const second = await one.run('echo 2', {}, { 'fairlead/client': 'b' });
    const third = await one.run('echo 3', {}, { 'fairlead/client': 'a' });
    expect(second.facts['terminal']).not.toBe(first.facts['terminal']);
    expect(third.facts['terminal']).toBe(first.facts['terminal']);
    expect([...told(first), ...told(second), ...told(third)]).toEqual([]);
  });
});

describe('names', () => {
  test('a name is accepted wherever an id is', async () => {
    await using agent = await Agent.connect('namer');
    const opened = (await agent.call('terminal_open', { name: 'web server' })).facts;
    const { terminal } = opened;
    expect((await agent.run('echo by name', { terminal: 'web server' })).facts['terminal']).toBe(terminal);
    for (const [tool, input] of [
      ['terminal_read', { terminal: 'web server' }],
      ['terminal_find', { terminal: 'web server', pattern: 'by name' }],
      ['terminal_wait', { terminal: 'web server', prompt: true }],
      ['terminal_send', { terminal: 'web server', text: '' }],
      ['getContent', { sessionId: 'web server' }],
      ['terminal_close', { terminal: 'web server' }],
    ] as const) {
      const answer = await agent.call(tool, input);
      expect(answer, tool).toMatchObject({ isError: false });
      expect(answer.facts['terminal'] ?? answer.facts['sessionId'], tool).toBe(terminal);
    }
  });

  test('of two terminals with one name neither is guessed', async () => {
    await using agent = await Agent.connect('doubler');
    for (let i = 0; i < 2; i++) await agent.call('terminal_open', { name: 'double' });
    const answer = await agent.call('terminal_read', { terminal: 'double' });
    expect(answer).toMatchObject({
      isError: true,
      text: expect.stringContaining('Several sessions are called double'),
    });
  });
});
