import { expect, test } from 'vitest';
import { meantName } from './argument-names.ts';

const run = ['command', 'terminal', 'timeoutMs', 'maxBytes'];
const wait = ['terminal', 'text', 'regex', 'gone', 'quietMs', 'prompt', 'exit', 'cursor', 'timeoutMs'];
const open = ['target', 'argv', 'shell', 'cwd', 'env', 'cols', 'rows', 'name'];

test.each([
  ['cmd', run, 'command'],
  ['commandLine', run, 'command'],
  ['script', run, 'command'],
  ['session', run, 'terminal'],
  ['session_id', run, 'terminal'],
  ['sessionId', run, 'terminal'],
  ['id', run, 'terminal'],
  ['timeout', run, 'timeoutMs'],
  ['timeout_ms', run, 'timeoutMs'],
  ['max_bytes', run, 'maxBytes'],
  ['input', ['terminal', 'text', 'mode', 'keys'], 'text'],
  ['key', ['terminal', 'text', 'mode', 'keys'], 'keys'],
  ['pattern', wait, 'text'],
  ['query', ['pattern', 'terminal'], 'pattern'],
  ['path', open, 'cwd'],
  ['working_directory', open, 'cwd'],
  ['host', open, 'target'],
  ['args', open, 'argv'],
  ['environment', open, 'env'],
  ['terminal', ['sessionId', 'text'], 'sessionId'],
  ['text', ['shell_id', 'input'], 'input'],
  // Slips of the finger.
  ['comand', run, 'command'],
  ['terminl', run, 'terminal'],
  ['zebra', run, undefined],
])('who writes %s, where there are %j, means %s', (given, names, meant) => {
  expect(meantName(given, names)).toBe(meant);
});
