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

test('a bad variable is named too', () => {
  expect(() => read({}, { FAIRLEAD_ROWS: 'x' })).toThrow('FAIRLEAD_ROWS: "x" is not a whole number');
});

test('section 6: where SSH host keys are recorded', () => {
  const at = (flags: Record<string, string>, env: Record<string, string>) =>
    places(read(flags, env), { HOME: '/home/ada', ...env }).knownHosts;
  expect(at({}, {})).toBe('/home/ada/.fairlead/known_hosts');
  expect(at({}, { SSH_KNOWN_HOSTS: '/theirs' })).toBe('/theirs');
  expect(at({ sshKnownHosts: '/ours' }, { SSH_KNOWN_HOSTS: '/theirs' })).toBe('/ours');
  expect(() => read({}, { FAIRLEAD_SSH_HOST_KEY_POLICY: 'none' })).toThrow('must be strict, accept-new or off');
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
  const sessions = (command: string, env = {}) => readSettings(new Map(), env, command).maxSessions;
  expect([sessions('serve'), sessions('mcp')]).toEqual([200, 5]);
  expect(sessions('serve', { FAIRLEAD_MAX_SESSIONS: '7' })).toBe(7);
});
