import { z } from 'zod';
import { visible } from '../../contract/quote.ts';
import { remoteError } from '../../contract/remote-errors.ts';
import type { Call } from '../../engine/call/call.ts';
import type { AskPassword } from '../../transports/ssh/login/auth.ts';
import { ssh } from '../../transports/ssh/index.ts';
import type { AskTrust } from '../../transports/ssh/login/host-key-check.ts';
import { hostKeyQuestion, isYes, personQuestion } from '../../transports/ssh/login/person-question.ts';
import type { ConnectOutcome, Reuse } from '../../transports/ssh/sessions/sessions.ts';

/** Any id of this book. No pattern: every tool's schema would repeat it, and ids are copied, not invented. */
export const Id = z
  .string()
  .max(128)
  .refine((text) => /^[A-Za-z0-9_-]+$/.test(text), 'must be letters, digits, - or _');

/** Repeated in many answers and compared by eye: two that look alike must be equal. */
export const Label = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => visible(text) === text, 'contains control or invisible characters; use letters that can be seen');

/** The login fields of the tools. */
export interface ConnectArguments {
  readonly session_id?: string | undefined;
  readonly address?: string | undefined;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  readonly key_path?: string | undefined;
  readonly timeout_secs?: number | undefined;
  readonly max_retries?: number | undefined;
  readonly retry_delay_ms?: number | undefined;
  readonly compress?: boolean | undefined;
  readonly name?: string | undefined;
  readonly persistent?: boolean | undefined;
  readonly agent_id?: string | undefined;
  readonly reuse: Reuse;
}

/** Bounds for values that a caller gives (docs/requirements/remote.md section 6). */
const mostRetries = 20;
const longestDelayMs = 10_000;

/** Finds or makes a session for a call. `sameAgent`: never one of another agent. */
export async function connectFor(
  call: Pick<Call<unknown>, 'engine' | 'caller' | 'signal' | 'ask'>,
  args: ConnectArguments,
  { sameAgent = false }: { readonly sameAgent?: boolean } = {},
): Promise<ConnectOutcome> {
  const { engine, caller, signal } = call;
  const { sessions, settings } = engine.service(ssh);
  const { session_id: id, address, username } = args;
  let stale = 0;
  if (id !== undefined) {
    const known = await sessions.revive(id, caller.principal, signal);
    if (known !== 'dead' && known !== 'unknown') return { status: 'reused', session: known, replaced: 0 };
    if (address === undefined) throw sessions.notFound(id, caller.principal);
    if (known === 'dead') stale = 1;
  }
  if (address === undefined) throw remoteError('INVALID_ARGUMENT', 'address: is required');
  if (username === undefined) throw remoteError('INVALID_ARGUMENT', 'username: is required');
  const outcome = await sessions.connect(
    {
      address,
      username,
      password: args.password,
      keyPath: args.key_path,
      timeoutMs: args.timeout_secs === undefined ? undefined : args.timeout_secs * 1000,
      usualTimeoutMs: settings.connectTimeoutMs,
      maxRetries: Math.min(args.max_retries ?? settings.maxRetries, mostRetries),
      retryDelayMs: Math.min(args.retry_delay_ms ?? settings.retryDelayMs, longestDelayMs),
      compress: args.compress ?? settings.compression,
      compressionNamed: args.compress !== undefined || settings.compression,
      askPassword: asking(call),
      askTrust: trusting(call),
      reuse: args.reuse,
      agentId: args.agent_id,
      name: args.name,
      persistent: args.persistent,
      sameAgent,
    },
    caller.principal,
    signal,
  );
  return { ...outcome, replaced: outcome.replaced + stale };
}

/** Passwords come from the person, never through the model. */
const asking =
  ({ ask }: Pick<Call<unknown>, 'ask'>): AskPassword =>
  (question, signal) =>
    ask(personQuestion(question), signal);

/** Trust, too: a model must not give it. */
const trusting =
  ({ ask }: Pick<Call<unknown>, 'ask'>): AskTrust =>
  async (question, signal) =>
    isYes(await ask(hostKeyQuestion(question), signal));
