import { Client, type Progress, type VersionNegotiationMode } from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { describe, expect, test } from 'vitest';
import type { McpSurface } from '../../../src/faces/mcp/surface.ts';
import { workshop } from '../../support/mcp/workshop.ts';
import { type Connected, doors } from '../../support/mcp/doors.ts';

const modes: [VersionNegotiationMode, string][] = [
  ['legacy', '2025-11-25'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
  ['auto', '2026-07-28'],
];
const matrix = Object.entries(doors).flatMap(([door, open]) =>
  modes.map(([mode, version]) => ({ door, open, mode, version })),
);

describe.each(matrix)('the official client over $door, negotiating $version', ({ open, mode, version }) => {
  const connect = (surface: McpSurface): Promise<Connected> =>
    open(surface, new Client({ name: 'official', version: '2' }, { versionNegotiation: { mode } }));

  test('sees who it talks to, the tools and the prompts, and calls one', async () => {
    const { surface } = workshop();
    await using connected = await connect(surface);
    const { client } = connected;
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'fairlead', version: '1.2.3' });
    expect(client.getInstructions()).toBe('Use it well.');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'paper_write',
      'readPaper',
      'paper_draw',
      'paper_burn',
      'clock_wait',
      'clock_report',
    ]);
    // The client checks the structured part against the published schema, so this also proves that they agree.
    const written = await client.callTool({ name: 'paper_write', arguments: { line: 'a', times: 2 } });
    expect(written).toMatchObject({
      content: [{ type: 'text', text: 'Wrote 2 lines.' }],
      structuredContent: { text: 'a\na\n', lines: 2 },
    });
    const drawn = await client.callTool({ name: 'paper_draw' });
    expect(drawn.structuredContent).toBeUndefined();
    expect(drawn.content).toMatchObject([{ type: 'text' }, { type: 'image', mimeType: 'image/png' }]);
  });

  test('is told in one line what was wrong with a call (R-TERM-004, R-TERM-005)', async () => {
    await using connected = await connect(workshop().surface);
    const { client } = connected;
    const text = async (name: string, input?: Record<string, unknown>): Promise<unknown> => {
      const params = { name, ...(input !== undefined && { arguments: input }) };
      const { isError, content } = await client.callTool(params);
      expect(isError).toBe(true);
      return content[0]?.type === 'text' ? content[0].text : content;
    };
    expect(await text('readpaper')).toBe('Error: Unknown tool: "readpaper". Did you mean "readPaper"?');
    expect(await text('paper_write')).toMatch(/^Error: line: .*required.*$/);
    expect(await text('paper_write', { line: 7 })).toMatch(/^Error: line: .+$/);
    expect(await text('paper_burn')).toBe('Error: The alarm went off. Open a window.');
    const odd = client.callTool({ name: 'paper_write', arguments: [1] as never });
    await expect(odd).rejects.toThrow(/^Invalid tools\/call request: params\.arguments: .+$/);
  });

  test('gets prompts, and hears which there are when it asks for another (R-TERM-112)', async () => {
    await using connected = await connect(workshop().surface);
    const { client } = connected;
    expect((await client.listPrompts()).prompts).toEqual([
      {
        name: 'greet',
        title: 'Greet',
        description: 'Say hello.',
        arguments: [
          { name: 'who', description: 'Whom to greet', required: true },
          { name: 'how', description: 'In which way', required: false },
        ],
      },
    ]);
    expect((await client.getPrompt({ name: 'greet', arguments: { who: 'Ann' } })).messages).toEqual([
      { role: 'user', content: { type: 'text', text: 'Greet Ann kindly.' } },
    ]);
    const unknown = client.getPrompt({ name: 'scold' });
    await expect(unknown).rejects.toThrow('Unknown prompt: "scold". Available prompts: greet');
    await expect(unknown).rejects.toMatchObject({ code: -32600 });
    const incomplete = client.getPrompt({ name: 'greet' });
    await expect(incomplete).rejects.toThrow('Prompt "greet" needs the argument "who": Whom to greet');
    await expect(incomplete).rejects.toMatchObject({ code: -32602 });
  });

  test('hears of progress, and stops a call by aborting it', async () => {
    const { surface, waiting, stopped } = workshop();
    await using connected = await connect(surface);
    const { client } = connected;
    const heard: unknown[] = [];
    const onprogress = ({ progress, message }: Progress): void => {
      heard.push([progress, message]);
    };
    await client.callTool({ name: 'clock_report', arguments: { reports: 2 } }, { onprogress });
    expect(heard).toEqual([
      [1, 'report 1'],
      [2, 'report 2'],
    ]);
    const stop = new AbortController();
    const call = client.callTool({ name: 'clock_wait' }, { signal: stop.signal });
    expect(await waiting).toMatchObject({ name: 'official', origin: 'mcp' });
    stop.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await stopped;
  });

  test('read-only: what changes things is neither listed nor run', async () => {
    await using connected = await connect(workshop({ readOnly: true }).surface);
    const { client } = connected;
    const { tools } = await client.listTools();
    expect(tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    expect((await client.callTool({ name: 'paper_write', arguments: { line: 'x' } })).content).toEqual([
      {
        type: 'text',
        text: 'Error: paper_write changes things, and this server was started read-only (--read-only).',
      },
    ]);
  });
});

test('an error answer fits the published output schema: clients on the 1.x SDK check it too', async () => {
  const { surface } = workshop();
  const validators = new AjvJsonSchemaValidator();
  for (const { name, outputSchema } of surface.tools.list().tools) {
    if (outputSchema === undefined) continue;
    const fits = validators.getValidator(outputSchema as never);
    expect([name, fits({ error: { code: 'conflict', message: 'x' } }).valid]).toEqual([name, true]);
  }
});

test('resources are spoken of only where there are some', async () => {
  await using connected = await doors.stdio(workshop().surface, new Client({ name: 'official', version: '2' }));
  expect(connected.client.getServerCapabilities()).toEqual({ tools: { listChanged: true }, prompts: {} });
});
