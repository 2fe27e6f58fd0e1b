import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flagName, places, readSettings, variableName } from './config.ts';

const read = (flags: Record<string, string | string[]> = {}, env: Record<string, string> = {}) =>
  readSettings(new Map(Object.entries(flags)), env);

test('R-TERM-121: defaults', () => {
  expect(read()).toMatchObject({
    cols: 120,
    rows: 40,
    scrollback: 1000,
    record: 'off',
    idleTimeLimit: 2,
    maxDuration: 3600,
    inactivityTimeout: 600,
    maxSessions: 5,
    sessionIdleTimeout: 600,
    readOnly: false,
  });
});

test('R-RPC-024: an instance closes no session for being idle unless it was told to', () => {
  const serve = (flags: Record<string, string> = {}) =>
    readSettings(new Map(Object.entries(flags)), {}, { command: 'serve' }).sessionIdleTimeout;
  expect(serve()).toBe(0);
  expect(serve({ sessionIdleTimeout: '60' })).toBe(60);
});

test('R-TERM-122: the directory is seen from where this was started', () => {
  expect(read({ cwd: 'proj' }).cwd).toBe(join(process.cwd(), 'proj'));
  expect(read({ cwd: '/srv' }).cwd).toBe('/srv');
  expect(read({ cwd: '~/proj' }).cwd).toBe('~/proj');
});

test('a flag wins over a variable, a variable over the default', () => {
  expect(read({}, { FAIRLEAD_COLS: '90' }).cols).toBe(90);
  expect(read({ cols: '80' }, { FAIRLEAD_COLS: '90' }).cols).toBe(80);
  expect(read({}, { FAIRLEAD_COLS: '' }).cols).toBe(120);
});

test('names follow from the name', () => {
  expect(flagName('sessionIdleTimeout')).toBe('--session-idle-timeout');
  expect(variableName('sessionIdleTimeout')).toBe('FAIRLEAD_SESSION_IDLE_TIMEOUT');
});

test.each([
  [{ cols: '0' }, '--cols: "0" must be at least 2'],
  [{ cols: '1001' }, '--cols: "1001" must be at most 1000'],
  [{ cols: 'wide' }, '--cols: "wide" is not a whole number'],
  [{ record: 'sometimes' }, '--record: "sometimes" must be always, on-failure or off'],
  [{ env: ['1X=2'] }, '--env: "1X=2" is not of the form NAME=value'],
])('R-TERM-012: %j names the option and the fault', (flags, message) => {
  expect(() => read(flags)).toThrow(message);
});

test('a list in a variable ends each part at a comma; a value with a comma takes the flag', () => {
  expect(read({}, { FAIRLEAD_ENV: 'A=1,B=2' }).env).toEqual(['A=1', 'B=2']);
  expect(() => read({}, { FAIRLEAD_ENV: 'A=1,2' })).toThrow('FAIRLEAD_ENV: "2" is not of the form NAME=value');
  expect(read({ env: ['LIST=a,b'] }).env).toEqual(['LIST=a,b']);
});

test('a bad variable is named too', () => {
  expect(() => read({}, { FAIRLEAD_ROWS: 'x' })).toThrow('FAIRLEAD_ROWS: "x" is not a whole number');
});

test('a setting of another command, however wrong, is not looked at', () => {
  const env = { FAIRLEAD_PORT: 'abc', FAIRLEAD_TOKEN: 'short', FAIRLEAD_COLS: '90' };
  expect(readSettings(new Map(), env, { uses: ['cols'] })).toMatchObject({ cols: 90, port: undefined });
  expect(() => readSettings(new Map(), env, { uses: ['port'] })).toThrow('FAIRLEAD_PORT: "abc" is not a whole number');
});

test('a secret that will not do is not printed', () => {
  expect(() => read({}, { FAIRLEAD_TOKEN: 'short' })).toThrow('FAIRLEAD_TOKEN: it must have at least 16 characters');
});

test.each([
  ['Box.Example', 'box.example'],
  ['box.example:8080', 'box.example'],
  [' bücher.example', 'xn--bcher-kva.example'],
  ['fe80::1', '[fe80::1]'],
  ['[FE80::1]:80', '[fe80::1]'],
  ['10.0.0.7', '10.0.0.7'],
])('--allow-host %s is the host %s of a request', (given, host) => {
  expect(read({ allowHost: [given] }).allowHost).toEqual([host]);
});

test.each([
  ['https://App.example/', 'https://app.example'],
  ['https://app.example:443', 'https://app.example'],
  ['http://localhost:3000', 'http://localhost:3000'],
  ['vscode-webview://abc', 'vscode-webview://abc'],
  ['null', 'null'],
])('--allow-origin %s is the origin %s of a request', (given, origin) => {
  expect(read({ allowOrigin: [given] }).allowOrigin).toEqual([origin]);
});

test.each([
  [
    { allowHost: ['ok', 'http://box.example'] },
    '--allow-host: "http://box.example" is not a host name; write the name',
  ],
  [{ allowHost: ['*.example'] }, '--allow-host: "*.example" is not a host name'],
  [{ allowHost: [''] }, '--allow-host: "" is not a host name'],
  [
    { allowOrigin: ['app.example'] },
    '--allow-origin: "app.example" is not an origin; write scheme, host and port alone',
  ],
  [{ allowOrigin: ['https://app.example/path'] }, '--allow-origin: "https://app.example/path" is not an origin'],
  [{ allowOrigin: ['*'] }, '--allow-origin: "*" is not an origin'],
])('%j could never match: say what to write', (flags, message) => {
  expect(() => read(flags)).toThrow(message);
});

test('section 6: where SSH host keys are recorded', () => {
  const at = (flags: Record<string, string>, env: Record<string, string>) =>
    places(read(flags, env), { HOME: '/home/ada', ...env }).knownHosts;
  expect(at({}, {})).toBe('/home/ada/.fairlead/known_hosts');
  expect(at({}, { SSH_KNOWN_HOSTS: '/theirs' })).toBe('/theirs');
  expect(at({ sshKnownHosts: '/ours' }, { SSH_KNOWN_HOSTS: '/theirs' })).toBe('/ours');
  expect(() => read({}, { FAIRLEAD_SSH_HOST_KEY_POLICY: 'none' })).toThrow('must be strict, ask, accept-new or off');
});

test('R-TERM-076: where recordings go', () => {
  const at = (flags: Record<string, string>, env: Record<string, string>) =>
    places(read(flags, env), { HOME: '/home/ada', ...env }).recordings;
  expect(at({}, {})).toBe('/home/ada/.local/state/fairlead/recordings');
  expect(at({}, { XDG_STATE_HOME: '/state' })).toBe('/state/fairlead/recordings');
  expect(at({}, { TERMINAL_MCP_RECORD_DIR: '/old' })).toBe('/old');
  expect(at({}, { TERMINAL_MCP_RECORD_DIR: '/old', FAIRLEAD_RECORD_DIR: '/ours' })).toBe('/ours');
  expect(at({ recordDir: '/flag' }, { FAIRLEAD_RECORD_DIR: '/ours' })).toBe('/flag');
});

test('an instance may have more sessions than a server of one client; what was given wins', () => {
  const sessions = (command: string, env = {}) => readSettings(new Map(), env, { command }).maxSessions;
  expect([sessions('serve'), sessions('mcp')]).toEqual([200, 5]);
  expect(sessions('serve', { FAIRLEAD_MAX_SESSIONS: '7' })).toBe(7);
});
