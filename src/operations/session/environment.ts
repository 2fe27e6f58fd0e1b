import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import type { Engine } from '../../engine/engine.ts';
import { isSecretName, readEnvironment, setEnvironment, withoutPassword } from '../../engine/terminal/environment.ts';
import { operation } from '../../engine/call/operation.ts';
import { variableLines } from '../../policy/lines.ts';
import { answered } from '../../engine/waiting/answered.ts';
import type { Terminal } from '../../engine/terminal/terminal.ts';
import { liveSession, session } from './shared.ts';

const Variable = z.object({ name: z.string(), value: z.string().nullable(), redacted: z.literal(true).optional() });

const asBegun = 'As the shell began: it has not told what it has now. It does with its next command.';
const toldEarlier = 'What the shell told earlier, at a prompt: it does not answer when it is asked.';

/** The shell's exchange files go when it exits; that is an answer, not an internal error. */
async function whileLive<T>(
  call: Parameters<typeof liveSession>[0],
  work: (terminal: Terminal) => Promise<T>,
): Promise<T> {
  const terminal = await liveSession(call);
  try {
    return await work(terminal);
  } catch (error) {
    await liveSession(call);
    throw error;
  }
}

export const env = operation({
  title: 'Read the environment',
  summary: 'Environment variables of a session. Secrets come back as null unless reveal is true.',
  access: 'observe',
  input: z.object({
    ...session,
    name: z.string().min(1).optional().describe('Only this variable'),
    reveal: z.boolean().default(false).describe('Show secrets too'),
  }),
  output: z.object({
    value: z.string().nullable().optional(),
    redacted: z.literal(true).optional(),
    variables: z.array(Variable).optional(),
    source: z.enum(['shell', 'process']),
    as_of: z.string(),
    note: z.string().optional(),
  }),
  positional: ['id', 'name'],
  show: ({ value, redacted, variables }) => {
    const secret = '(a secret; --reveal shows it)';
    if (variables) return variables.map((one) => `${one.name}=${one.value ?? secret}`).join('\n');
    return value ?? (redacted ? secret : '(not set)');
  },
  async run(call) {
    const { name, reveal } = call.input;
    const { variables, source, asOf, note } = await whileLive(call, async (terminal) => {
      // A shell reports its environment between a command's end and the next prompt.
      await answered(terminal, call.signal);
      const view = await readEnvironment(terminal, call.signal);
      const late = view.source === 'process' && terminal.identity.environment !== undefined;
      return { ...view, note: late ? asBegun : view.unheard ? toldEarlier : undefined };
    });
    const about = { source, as_of: new Date(asOf).toISOString(), ...(note === undefined ? {} : { note }) };
    const show = (one: string, value: string): z.output<typeof Variable> => {
      if (!reveal && isSecretName(one)) return { name: one, value: null, redacted: true };
      const shown = reveal ? value : withoutPassword(one, value);
      return { name: one, value: shown, ...(shown === value ? {} : { redacted: true as const }) };
    };
    if (name !== undefined) {
      const { name: _, ...shown } = show(name, variables.get(name) ?? '');
      return { ...(variables.has(name) ? shown : { value: null }), ...about };
    }
    const sorted = [...variables].sort(([a], [b]) => (a < b ? -1 : 1));
    return { variables: sorted.map(([one, value]) => show(one, value)), ...about };
  },
});

/** Variables for sessions created later, per engine: set by calls whose own session has no shell integration. */
const launches = new WeakMap<Engine, Record<string, string>>();

export const launchEnvironment = (engine: Engine): Readonly<Record<string, string>> => launches.get(engine) ?? {};

export const set_env = operation({
  title: 'Change the environment',
  summary: 'Set an environment variable in the shell of a session; null unsets it. Nothing is typed.',
  access: 'control',
  idempotent: true,
  input: z.object({
    ...session,
    name: z.string().min(1).max(256).describe('Variable'),
    value: z.string().max(131_072).nullable().describe('New value; null unsets it'),
    apply: z.enum(['next', 'now']).default('next').describe('now: press Enter at an empty prompt'),
  }),
  output: z.object({
    status: z.literal('ok'),
    applied: z.enum(['next_command', 'next_prompt', 'now', 'later_sessions']),
    warning: z.string().optional(),
  }),
  positional: ['id', 'name', 'value'],
  commands: ({ name, value }) => variableLines(name, value),
  about: ({ name, value }) => ({ detail: value === null ? 'unset' : 'set', variables: [name] }),
  async run(call) {
    const { name, value, apply } = call.input;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      throw new FairleadError('invalid_input', `Invalid variable name: ${name.slice(0, 80)}`, {
        hint: 'Use letters, digits and underscores, not starting with a digit.',
      });
    }
    const options = { now: apply === 'now', by: call.caller.name };
    const applied = await whileLive(call, (terminal) =>
      setEnvironment(terminal, { [name]: value }, options, call.signal),
    );
    if (applied !== undefined) return { status: 'ok' as const, applied };
    const later = { ...launchEnvironment(call.engine) };
    if (value === null) delete later[name];
    else later[name] = value;
    launches.set(call.engine, later);
    const warning = 'The shell of this session cannot be told: only sessions created from now on have the variable.';
    return { status: 'ok' as const, applied: 'later_sessions' as const, warning };
  },
});
