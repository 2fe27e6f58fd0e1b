import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Mcp } from '../support/mcp-client.ts';

const value = ['Zx81', 'kQ0pLmn4T99'].join('');
const tag = /<redacted:[0-9a-f]{8}>/;

test('a secret in the environment of the server reaches no model, log or audit trail (R-RPC-080)', async () => {
  await using mcp = await Mcp.start({ env: { DEPLOY_TOKEN: value }, args: ['--toolsets', 'core,terminal,session'] });
  const text = async (name: string, input: Readonly<Record<string, unknown>>): Promise<string> =>
    JSON.stringify(await mcp.call(name, input));
  const ran = await text('terminal_run', { command: 'echo "a $DEPLOY_TOKEN b"; git hash-object --stdin </dev/null' });
  expect(ran).toMatch(/a <redacted:[0-9a-f]{8}> b/);
  const wide = await text('terminal_run', { command: `printf '%076d%s\\n' 0 "$DEPLOY_TOKEN"` });
  expect(wide).toMatch(tag);
  for (const [name, input] of [
    ['terminal_read', {}],
    ['terminal_find', { pattern: 'a Zx' }],
    ['getContent', {}],
    ['session_env', { id: 0 }],
  ] as const) {
    expect([name, await text(name, input)]).not.toEqual([name, expect.stringContaining(value)]);
  }
  expect(await text('session_env', { id: 0, name: 'DEPLOY_TOKEN', reveal: true })).toContain(value);
  const { result } = await mcp.request('resources/list');
  const [{ uri }] = (result as { resources: [{ uri: string }] }).resources;
  for (const query of ['', '?raw=true']) {
    const answer = await mcp.request('resources/read', { uri: `${uri}${query}` });
    const [{ text, blob = '' }] = (answer.result as { contents: [{ text?: string; blob?: string }] }).contents;
    const shown = text ?? Buffer.from(blob, 'base64').toString();
    expect([query, shown]).toEqual([query, expect.stringMatching(tag)]);
    expect([query, shown]).not.toEqual([query, expect.stringContaining(value)]);
  }
  expect(mcp.lines.filter((line) => line.includes(value))).toHaveLength(1);
  expect(mcp.stderr).not.toContain(value);
  const audit = readdirSync(mcp.home, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /audit.*\.jsonl$/.test(path),
  );
  expect(audit.length).toBeGreaterThan(0);
  for (const path of audit) expect(readFileSync(join(mcp.home, path), 'utf8')).not.toContain(value);
});
