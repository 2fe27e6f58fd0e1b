import { describe, expect, test } from 'vitest';
import { chooseToolsets, offeredNames } from '../../src/faces/mcp/tools.ts';
import { allBooks } from '../../src/operations/index.ts';
import { instructionsFor } from '../../src/operations/instructions.ts';
import { promptsFor } from '../../src/operations/prompts.ts';

const books = await allBooks();
const everyTool = new Set(offeredNames(books, false));
/** Names of tools that are also plain words. */
const words = new Set(['type', 'clear', 'targets']);

const choices = ['core', 'terminal', 'ssh', 'session', 'sub'].flatMap((one, at, all) => [
  [one],
  ...all.slice(at + 1).map((other) => [one, other]),
]);

function offerOf(toolsets: readonly string[], readOnly: boolean) {
  const chosen = chooseToolsets(books, toolsets);
  const schemes = chosen.flatMap((book) => book.schemes ?? []);
  return { tools: new Set([...offeredNames(chosen, readOnly), ...schemes]), readOnly };
}

describe.each([false, true])('R-TERM-112: read-only %s', (readOnly) => {
  test.each([['all'], ...choices])('%s %s: only tools that are offered are spoken of', (...toolsets) => {
    const offer = offerOf(toolsets.filter(Boolean), readOnly);
    const prompts = promptsFor(offer);
    const texts = prompts.map(({ arguments: names, text }) =>
      text(Object.fromEntries(names.map(({ name }) => [name, 'VALUE']))),
    );
    const spokenOf = [instructionsFor(offer), ...texts].flatMap((text) => text.match(/\w+/g) ?? []);
    const missing = spokenOf.filter((word) => everyTool.has(word) && !words.has(word) && !offer.tools.has(word));
    expect(missing).toEqual([]);
    expect(prompts[0]?.name).toBe('tool-usage');
    expect(instructionsFor(offer).length).toBeLessThanOrEqual(2000);
  });
});

test('instructions teach the core verbs before the documented tools, and how to open a terminal over SSH', () => {
  const text = instructionsFor(offerOf(['core', 'terminal', 'ssh'], false));
  const verbs = ['terminal_run', 'terminal_send', 'terminal_wait', 'terminal_read', 'terminal_open'];
  const others = ['sendKey', 'getContent', 'ssh_connect'];
  const last = Math.max(...verbs.map((verb) => text.indexOf(verb)));
  for (const verb of verbs) expect(text).toContain(verb);
  for (const other of others) expect(text.indexOf(other), other).toBeGreaterThan(last);
  expect(text).toContain('terminal_open with target "ssh:user@host"');
  expect(text).not.toContain('createSession');
});

const namesFor = (toolsets: readonly string[], readOnly = false): string[] =>
  promptsFor(offerOf(toolsets, readOnly)).map(({ name }) => name);

test('prompts that could not be followed are not listed', () => {
  const usual = ['tool-usage', 'run-command', 'drive-tui', 'record-demo', 'debug-failure'];
  const ssh = ['run_one_shot_command', 'investigate_session', 'interactive_shell_drive', 'cleanup_agent'];
  const lanes = ['subscription_hygiene_audit', 'chaos_resume_after_disconnect'];
  const pushed = ['push_first_long_command', 'push_first_interactive_shell'];
  expect(namesFor(['core', 'terminal', 'ssh'])).toEqual([...usual, ...ssh]);
  expect(namesFor(['core', 'terminal', 'ssh', 'sub'])).toEqual([...usual, ...ssh, ...pushed, ...lanes]);
  expect(namesFor(['core', 'sub'])).toEqual([...usual, ...lanes]);
  expect(namesFor(['core'])).toEqual(usual);
  expect(namesFor(['terminal'])).toEqual(usual);
  expect(namesFor(['ssh'])).toEqual(['tool-usage', ...ssh]);
  expect(namesFor(['session'])).toEqual(['tool-usage', 'run-command', 'drive-tui', 'debug-failure']);
  expect(namesFor(['all'], true)).toEqual(['tool-usage', ...lanes]);
});
