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

type Extras = Pick<Setting, 'aliases' | 'defaults' | 'flag'>;

const value = <T extends z.ZodType>(
  metavar: string | undefined,
  help: string,
  schema: T,
  extras: Extras = {},
): Setting<T> => ({ schema, form: 'value', ...(metavar !== undefined && { metavar }), help, ...extras });

const list = <T extends z.ZodType>(metavar: string, help: string, schema: T): Setting<T> => ({
  schema,
  form: 'list',
  metavar,
  help,
});

const optional = <T extends z.ZodType>(metavar: string, bare: string, help: string, schema: T): Setting<T> => ({
  schema,
  form: 'optional',
  bare,
  metavar,
  help,
});

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

const off = flag.default(false);
const toggle = (help: string): Setting<typeof off> => ({ schema: off, form: 'switch', help });

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
  cols: value('n', 'Columns of a new terminal', integer(2, 1000).default(120)),
  // What the session RPC documents.
  rows: value('n', 'Rows of a new terminal', integer(1, 1000).default(40), { defaults: { serve: '30' } }),
  // The default means what scrollback.json says: older rows are read back from the output log.
  scrollback: value(
    'lines',
    'Lines kept above the screen; 1000 keeps these and reads older ones back (see scrollback.json)',
    integer(0, 100_000).default(1000),
  ),
  shell: value('path', 'Shell to run; yours by default', z.string().min(1).optional()),
  cwd: value('dir', 'Directory terminals start in', directory.optional()),
  env: list('K=V', 'Variable for every terminal; repeatable', z.array(assignment).default([])),
  shellIntegration: optional(
    'true|false',
    'true',
    'Mark prompts and commands, so that exit codes are known',
    flag.default(true),
  ),
  // An instance serves many clients, and ended sessions stay listed for a while.
  maxSessions: value('n', 'Sessions at one time, the default one included', integer(1, 1000).default(5), {
    defaults: { serve: '200' },
  }),
  // Sessions of an instance belong to its user: they stay until they end or are destroyed.
  sessionIdleTimeout: value(
    's',
    'Close an idle session after this long; 0 = never',
    seconds(30 * 86_400).default(600),
    { defaults: { serve: '0' } },
  ),
  keepTerminals: optional(
    'true|false',
    'true',
    'Keep terminals running when the server ends; the next server resumes them',
    flag.default(true),
  ),
  autosave: toggle('Save the open sessions in the workspace _last; offered for restore after a crash'),
  record: optional(
    'always|on-failure|off',
    'always',
    'Record every session from its start',
    z.enum(['always', 'on-failure', 'off'], 'must be always, on-failure or off').default('off'),
  ),
  recordDir: value('dir', 'Where recordings go', z.string().min(1).optional(), {
    aliases: ['TERMINAL_MCP_RECORD_DIR'],
  }),
  idleTimeLimit: value('s', 'Longest pause in a recording', seconds(3600).default(2)),
  maxDuration: value('s', 'Longest recording; 0 = no limit', seconds(86_400).default(3600)),
  inactivityTimeout: value(
    's',
    'Stop a recording after this long without output; 0 = never',
    seconds(86_400).default(600),
  ),
  toolsets: value('a,b', 'Groups of tools to offer, or all', words.optional()),
  readOnly: toggle('Offer agents (MCP) only tools that change nothing; does not limit what you do yourself'),
  sshHostKeyPolicy: value(
    'strict|ask|accept-new|off',
    'What to do about an unknown SSH host key (accept-new)',
    z.enum(['strict', 'ask', 'accept-new', 'off'], 'must be strict, ask, accept-new or off').optional(),
  ),
  sshKnownHosts: value('file', 'Where new SSH host keys are recorded', z.string().min(1).optional(), {
    aliases: ['SSH_KNOWN_HOSTS'],
  }),
  headless: toggle('Own terminals, no screen (the default for mcp)'),
  host: value('addr', 'Address to listen on', z.string().min(1).default('127.0.0.1')),
  port: value('n', 'Port to listen on; 7420, or the next free one', integer(0, 65_535).optional()),
  rpcPort: value('n', 'Port of the session RPC, or the next free one', integer(0, 65_535).default(19_876)),
  allowHost: list('name', 'Also accept requests for this host name; repeatable', z.array(HostName).default([])),
  allowOrigin: list('url', 'Also accept web pages of this origin; repeatable', z.array(WebOrigin).default([])),
  token: value(
    undefined,
    'Bearer token for HTTP clients; if not set, each start makes a new one',
    z
      .string()
      .min(16, 'must have at least 16 characters')
      .refine(isStrong, 'can be guessed; make one with: openssl rand -hex 24')
      .optional(),
    { flag: false },
  ),
  home: value('dir', 'Where Fairlead keeps its state', z.string().min(1).optional()),
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

interface SettingReader {
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

interface Places {
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
