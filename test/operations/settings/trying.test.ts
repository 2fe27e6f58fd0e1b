import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call } from '../../../src/engine/call/call.ts';
import { callStream } from '../../../src/engine/call/call-stream.ts';
import { localPerson } from '../../../src/engine/call/principal.ts';
import { personSettings } from '../../../src/engine/settings/settings.ts';
import { try as tryPatterns } from '../../../src/operations/settings/recording.ts';
import { try as tryRules } from '../../../src/operations/settings/rules.ts';
import { watch } from '../../../src/operations/settings/watch.ts';
import { policies } from '../../../src/policy/policies.ts';
import { limit } from '../../support/engine.ts';
import { RpcPlace } from '../../support/rpc-place.ts';

const context = (place: RpcPlace) => ({ engine: place.engine, caller: localPerson, signal: limit() });

test('rules.try judges the calls of the past by rules that are not saved, and keeps nothing (R-RPC-102)', async () => {
  await using place = await RpcPlace.open();
  const { id } = (await place.client.call('session.create', {})) as { id: number };
  await place.client.call('exec.run_wait', { id, command: "printf '%s\\n' one" });
  await place.client.call('exec.run_wait', { id, command: `echo two ${'x'.repeat(200)}` });
  await place.client.call('policy.set', { enabled: true, blocked_patterns: ['three'] });
  expect((await place.client.ask('exec.run', { id, command: 'echo three' })).error?.code).toBeDefined();
  const draft = { enabled: true, blocked_patterns: ['cmd:printf'], days: 7, command: 'printf x' };
  const tried = await call(tryRules, draft, context(place));
  expect(tried).toMatchObject({
    changes: ['+ blocked cmd:printf', '- blocked three'],
    verdict: { allowed: false, pattern: 'cmd:printf' },
    calls: 3,
    cut: 1,
    refused: [{ operation: 'exec.run_wait', command: "printf '%s\\n' one", isCut: false, pattern: 'cmd:printf' }],
    refused_total: 1,
    freed: [{ operation: 'exec.run', command: 'echo three', reason: 'Allowed' }],
    freed_total: 1,
  });
  expect(tryRules.render(tried)).toContain('Of 3 calls (1 known by their beginning), 1 would be refused');
  // Judged with the saved rules, in force or not; nothing of the past without days.
  expect(await call(tryRules, { enabled: false, command: 'echo three' }, context(place))).toMatchObject({
    verdict: { allowed: true },
    calls: 0,
    changes: ['enabled false'],
  });
  expect(place.engine.service(policies).get().blocked_patterns).toEqual(['three']);
});

test.each([
  [{ blocked_patterns: ['re:('] }, /re:\(|pattern/i],
  [{ days: 15 }, /days/],
  [{ pattern: 'x' }, /pattern/],
])('rules.try refuses %j in words', async (input, why) => {
  await using place = await RpcPlace.open();
  await expect(call(tryRules, input, context(place))).rejects.toThrow(why);
});

test('logs.try masks as a recording would, with patterns that are not saved', async () => {
  await using place = await RpcPlace.open();
  const text = 'badge ACME-4711, token ghp_abcdefghijklmnopqrstuvwxyz0123456789';
  expect(await call(tryPatterns, { text }, context(place))).toMatchObject({ count: 1, problems: [] });
  const tried = await call(tryPatterns, { text, custom_patterns: ['ACME-(\\d+)', '('] }, context(place));
  expect(tried.text).toMatch(/^badge ACME-<redacted:[0-9a-f]{8}>, token <redacted:[0-9a-f]{8}>$/);
  expect(tried).toMatchObject({ count: 2, problems: [expect.stringContaining('"("')] });
  expect(tryPatterns.render(tried)).toContain('2 secrets are masked.');
  await expect(call(tryPatterns, { text: 7 }, context(place))).rejects.toThrow(/text/);
  expect(JSON.stringify(place.engine.audit.entries())).not.toContain('4711');
});

test('settings.watch tells of files at once: who changed them, and which cannot be read (R-RPC-017)', async () => {
  await using place = await RpcPlace.open();
  const settings = place.engine.service(personSettings);
  settings.follow([place.engine.service(policies).file]);
  const stop = new AbortController();
  const items = callStream(watch, {}, { ...context(place), signal: stop.signal })[Symbol.asyncIterator]();
  const next = async (name: string): Promise<unknown> => {
    const { value } = (await items.next()) as { value: { files: { name: string }[] } };
    return value.files.find((one) => one.name === name);
  };
  expect(await next('policy')).toEqual({ name: 'policy', file: 'policy.json', by_hand: false });
  await place.client.call('policy.set', { enabled: true });
  expect(await next('policy')).toMatchObject({ by_hand: false, changed_at: expect.any(String) as string });
  writeFileSync(join(place.home, '.fairlead', 'policy.json'), '{ "enabled": ');
  settings.look();
  const broken = (await next('policy')) as { error: string };
  expect(broken).toMatchObject({ by_hand: true });
  expect(broken.error).toMatch(/policy\.json cannot be understood \(line 1/);
  expect(watch.render({ files: [broken as never] })).toContain('policy.json  edited');
  stop.abort();
  expect((await items.next()).done).toBe(true);
  expect(settings.fileChanged.size).toBe(0);
});
