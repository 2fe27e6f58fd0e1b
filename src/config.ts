import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isStrong } from './lib/token-strength.ts';
import { HostName, WebOrigin } from './web-names.ts';

/**
 * Every setting, one row each. The flag `--max-sessions`, the variable `FAIRLEAD_MAX_SESSIONS`, the help line and the
 * docs follow from the name `maxSessions`. Read once, in main.ts.
 */
export interface Setting<T extends z.ZodType = z.ZodType> {
  readonly schema: T;
  readonly help: string;
  /** How the flag looks on the command line: `--x v`, `--x`, `--x v` many times, or `--x[=v]`. */
  readonly form: 'value' | 'switch' | 'list' | 'optional';
  /** What a bare `--x` means for the optional form. */
  readonly bare?: string;
  /** Shown in help in place of the value. */
  readonly metavar?: string;
  /** Older names of the variable, tried in order after our own. */
  readonly aliases?: readonly string[];
  /** Commands that start from another default. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** A secret comes from the environment or a file, never from a flag that other users can see. */
  readonly flag?: false;
}

const setting = <T extends z.ZodType>(row: Setting<T>): Setting<T> => row;

const integer = (min: number, max: number) =>
  z
    .string()
    .regex(/^-?\d+$/, 'is not a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`));

const seconds = (max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'is not a number of seconds')
    .transform(Number)
    .pipe(z.number().max(max, `must be at most ${max}`));

const flag = z
  .enum(['true', 'false', '1', '0', ''], 'takes no value, or true or false')
  .transform((word) => word === 'true' || word === '1' || word === '');

const words = z.string().transform((list) =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== ''),
);

/** Relative to the start directory; `~` is left for the terminal to expand. */
const directory = z
  .string()
  .min(1)
  .transform((path) => (/^~(\/|$)/.test(path) ? path : resolve(path)));

const assignment = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*=/, 'is not of the form NAME=value');

export const settings = {
  cols: setting({
    schema: integer(2, 1000).default(120),
    form: 'value',
    metavar: 'n',
    help: 'Columns of a new terminal',
  }),
  rows: setting({
    schema: integer(1, 1000).default(40),
    // What the session RPC documents.
    defaults: { serve: '30' },
    form: 'value',
    metavar: 'n',
    help: 'Rows of a new terminal',
  }),
  scrollback: setting({
    schema: integer(0, 100_000).default(1000),
    form: 'value',
    metavar: 'lines',
    help: 'Lines kept above the screen',
  }),
  shell: setting({
    schema: z.string().min(1).optional(),
    form: 'value',
    metavar: 'path',
    help: 'Shell to run; yours by default',
  }),
  cwd: setting({
    schema: directory.optional(),
    form: 'value',
    metavar: 'dir',
    help: 'Directory terminals start in',
  }),
  env: setting({
    schema: z.array(assignment).default([]),
    form: 'list',
    metavar: 'K=V',
    help: 'Variable for every terminal; repeatable',
  }),
  shellIntegration: setting({
    schema: flag.default(true),
    form: 'optional',
    bare: 'true',
    metavar: 'true|false',
    help: 'Mark prompts and commands, so that exit codes are known',
  }),
  maxSessions: setting({
    schema: integer(1, 1000).default(5),
    // An instance serves many clients, and ended sessions stay listed for a while.
    defaults: { serve: '200' },
    form: 'value',
    metavar: 'n',
    help: 'Sessions at one time, the default one included',
  }),
  sessionIdleTimeout: setting({
    schema: seconds(30 * 86_400).default(600),
    // Sessions of an instance belong to its user: they stay until they end or are destroyed.
    defaults: { serve: '0' },
    form: 'value',
    metavar: 's',
    help: 'Close an idle session after this long; 0 = never',
  }),
  keepTerminals: setting({
    schema: flag.default(true),
    form: 'optional',
    bare: 'true',
    metavar: 'true|false',
    help: 'Keep terminals running when the server ends; the next server resumes them',
  }),
  autosave: setting({
    schema: flag.default(false),
    form: 'switch',
    help: 'Save the open sessions in the workspace _last; offered for restore after a crash',
  }),
  record: setting({
    schema: z.enum(['always', 'on-failure', 'off'], 'must be always, on-failure or off').default('off'),
    form: 'optional',
    bare: 'always',
    metavar: 'always|on-failure|off',
    help: 'Record every session from its start',
  }),
  recordDir: setting({
    schema: z.string().min(1).optional(),
    form: 'value',
    metavar: 'dir',
    aliases: ['TERMINAL_MCP_RECORD_DIR'],
    help: 'Where recordings go',
  }),
  idleTimeLimit: setting({
    schema: seconds(3600).default(2),
    form: 'value',
    metavar: 's',
    help: 'Longest pause in a recording',
  }),
  maxDuration: setting({
    schema: seconds(86_400).default(3600),
    form: 'value',
    metavar: 's',
    help: 'Longest recording; 0 = no limit',
  }),
  inactivityTimeout: setting({
    schema: seconds(86_400).default(600),
    form: 'value',
    metavar: 's',
    help: 'Stop a recording after this long without output; 0 = never',
  }),
  toolsets: setting({
    schema: words.optional(),
    form: 'value',
    metavar: 'a,b',
    help: 'Groups of tools to offer, or all',
  }),
  readOnly: setting({
    schema: flag.default(false),
    form: 'switch',
    help: 'Offer agents (MCP) only tools that change nothing; does not limit what you do yourself',
  }),
  sshHostKeyPolicy: setting({
    schema: z.enum(['strict', 'accept-new', 'off'], 'must be strict, accept-new or off').optional(),
    form: 'value',
    metavar: 'strict|accept-new|off',
    help: 'What to do about an unknown SSH host key (accept-new)',
  }),
  sshKnownHosts: setting({
    schema: z.string().min(1).optional(),
    form: 'value',
    metavar: 'file',
    aliases: ['SSH_KNOWN_HOSTS'],
    help: 'Where new SSH host keys are recorded',
  }),
  headless: setting({
    schema: flag.default(false),
    form: 'switch',
    help: 'Own terminals, no screen (the default for mcp)',
  }),
  host: setting({
    schema: z.string().min(1).default('127.0.0.1'),
    form: 'value',
    metavar: 'addr',
    help: 'Address to listen on',
  }),
  port: setting({
    schema: integer(0, 65_535).optional(),
    form: 'value',
    metavar: 'n',
    help: 'Port to listen on; 7420, or the next free one',
  }),
  rpcPort: setting({
    schema: integer(0, 65_535).default(19_876),
    form: 'value',
    metavar: 'n',
    help: 'Port of the session RPC, or the next free one',
  }),
  allowHost: setting({
    schema: z.array(HostName).default([]),
    form: 'list',
    metavar: 'name',
    help: 'Also accept requests for this host name; repeatable',
  }),
  allowOrigin: setting({
    schema: z.array(WebOrigin).default([]),
    form: 'list',
    metavar: 'url',
    help: 'Also accept web pages of this origin; repeatable',
  }),
  token: setting({
    schema: z
      .string()
      .min(16, 'must have at least 16 characters')
      .refine(isStrong, 'can be guessed; make one with: openssl rand -hex 24')
      .optional(),
    form: 'value',
    flag: false,
    help: 'Bearer token for HTTP clients; if not set, each start makes a new one',
  }),
  home: setting({
    schema: z.string().min(1).optional(),
    form: 'value',
    metavar: 'dir',
    help: 'Where Fairlead keeps its state',
  }),
} as const;

export type SettingName = keyof typeof settings;
export type Settings = { readonly [K in SettingName]: z.output<(typeof settings)[K]['schema']> };

export const flagName = (name: string): string =>
  `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
export const variableName = (name: string): string =>
  `FAIRLEAD_${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;

export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that cannot be used: the flag or variable, and what is wrong with it. */
export class SettingError extends Error {
  override readonly name = 'SettingError';
}

export interface SettingReader {
  /** Whose defaults count. */
  readonly command?: string;
  /** The settings it uses. The others keep their defaults, so a bad variable for another command does no harm. */
  readonly uses?: readonly SettingName[];
}

/** Flags win over variables, variables over the defaults of the command. */
export function readSettings(
  flags: ReadonlyMap<string, string | readonly string[]>,
  env: Environment,
  { command = '', uses }: SettingReader = {},
): Settings {
  const result: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(settings) as [SettingName, Setting][]) {
    const given = uses === undefined || uses.includes(name) ? find(name, row, flags, env) : undefined;
    const { raw = row.defaults?.[command], source = name } = given ?? {};
    const parsed = row.schema.safeParse(raw);
    if (!parsed.success) throw wrong(row, source, raw, parsed.error.issues[0]);
    result[name] = parsed.data;
  }
  return result as Settings;
}

function wrong(row: Setting, source: string, raw: unknown, issue: z.core.$ZodIssue | undefined): SettingError {
  const at = issue?.path[0];
  const value: unknown = Array.isArray(raw) && typeof at === 'number' ? raw[at] : raw;
  // A setting without a flag is a secret.
  const shown = row.flag === false ? 'it' : show(value);
  return new SettingError(`${source}: ${shown} ${issue?.message ?? 'is not valid'}`);
}

function find(
  name: SettingName,
  row: Setting,
  flags: ReadonlyMap<string, string | readonly string[]>,
  env: Environment,
) {
  const given = flags.get(name);
  if (given !== undefined) return { raw: given, source: flagName(name) };
  for (const variable of [variableName(name), ...(row.aliases ?? [])]) {
    const value = env[variable];
    if (value !== undefined && value !== '')
      return { raw: row.form === 'list' ? value.split(',') : value, source: variable };
  }
  return { raw: undefined, source: name };
}

function show(raw: unknown): string {
  return raw === undefined ? 'it' : JSON.stringify(Array.isArray(raw) ? raw.join(',') : raw).slice(0, 80);
}

export interface Places {
  /** State root. */
  readonly home: string;
  readonly recordings: string;
  readonly screenshots: string;
  readonly knownHosts: string;
}

/** Where state, recordings and screenshots are kept. */
export function places(values: Settings, env: Environment): Places {
  const user = env['HOME'] ?? homedir();
  const home = resolve(values.home ?? join(user, '.fairlead'));
  const state = env['XDG_STATE_HOME'] || join(user, '.local', 'state');
  return {
    home,
    recordings: resolve(values.recordDir ?? join(state, 'fairlead', 'recordings')),
    screenshots: join(home, 'screenshots'),
    knownHosts: resolve(values.sshKnownHosts ?? join(home, 'known_hosts')),
  };
}
