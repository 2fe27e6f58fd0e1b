import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { FairleadError } from '../../../contract/errors.ts';
import type { OpenQuestion, PersonReach } from '../../../engine/person/questions/question.ts';
import type { ReportProgress } from '../../../engine/call/call.ts';
import { isLoopback } from '../../../lib/loopback.ts';
import { refusedCall } from '../answer.ts';
import { anyOf } from '../../../system/any-of.ts';
import { HeldCall, heldPrefix, messageFor, type ToolAnswer, type Work } from './held.ts';

/** Pages on which a person answers. The client sees only the address, never the answer. */
export interface PersonPages {
  readonly link: (question: OpenQuestion) => Promise<string>;
}

/** A tool call as the protocol brought it. */
interface Visit {
  readonly era: 'legacy' | 'modern';
  readonly server: Server;
  readonly context: ServerContext;
  readonly principal: string;
  readonly params: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> | undefined };
  readonly ending: AbortSignal;
  readonly progress: ReportProgress;
}

/** Calls held between two requests. Further ones are refused and may be repeated later. */
const mostHeld = 64;

/** The way to the person through an MCP client that can show them a link (URL-mode elicitation). */
export class PersonDoor {
  readonly #pages: PersonPages;
  readonly #held = new Map<string, HeldCall>();

  constructor(pages: PersonPages) {
    this.#pages = pages;
  }

  /** Runs the call, with a way to the person if the client offers one and its browser is on this machine. */
  async serve(visit: Visit, work: Work): Promise<ToolAnswer> {
    const state = visit.era === 'modern' ? visit.context.mcpReq.requestState<string>() : undefined;
    if (state?.startsWith(heldPrefix)) return await this.#resume(state, visit);
    if (!canShowLinks(visit)) return await plainly(visit, work);
    if (visit.era === 'legacy') return await plainly(visit, work, legacyReach(this.#pages, visit.context));
    const held: HeldCall = new HeldCall(keyOf(visit), work, visit.ending, {
      link: async (question) => {
        if (this.#held.size >= mostHeld) throw new FairleadError('limit_reached', 'Too many calls wait already.');
        return await this.#pages.link(question);
      },
      hold: () => this.#held.set(held.state, held),
      over: () => this.#held.delete(held.state),
    });
    return await held.attend(visit.context.mcpReq.signal, visit.progress);
  }

  async #resume(state: string, visit: Visit): Promise<ToolAnswer> {
    const { mcpReq } = visit.context;
    const held = this.#held.get(state);
    // A held call is continued only by its caller, with the same arguments.
    if (held?.key !== keyOf(visit)) return expired;
    held.decide((id) => {
      const reply = inputResponse(mcpReq.inputResponses, id);
      return reply.kind === 'elicit' ? reply.action === 'accept' : undefined;
    });
    return await held.attend(mcpReq.signal, visit.progress);
  }
}

/** Runs the call without links: the surface has no pages, or the client shows no links. */
export async function plainly(
  { context, ending, progress }: Visit,
  work: Work,
  person?: PersonReach,
): Promise<ToolAnswer> {
  using stop = anyOf(context.mcpReq.signal, ending);
  return await work({ signal: stop.signal, progress, person });
}

/** In the 2025 protocols the server asks during the call. */
function legacyReach(pages: PersonPages, { mcpReq }: ServerContext): PersonReach {
  let elicitationId = '';
  return {
    async show(question, signal) {
      const url = await pages.link(question);
      elicitationId = randomUUID();
      const timeout = Math.max(1, Date.parse(question.expiresAt) - Date.now());
      const params = { mode: 'url', message: messageFor(question), url, elicitationId } as const;
      const { action } = await mcpReq.elicitInput(params, { signal, timeout });
      return action === 'accept';
    },
    answered: () => mcpReq.notify({ method: 'notifications/elicitation/complete', params: { elicitationId } }),
  };
}

/** Pages are on loopback: only a browser on this machine can open them. */
function canShowLinks({ era, server, context }: Visit): boolean {
  const { req } = context.http ?? {};
  if (req !== undefined && !isLoopback(new URL(req.url).hostname)) return false;
  const { [CLIENT_CAPABILITIES_META_KEY]: declared } = (context.mcpReq.envelope ?? {}) as {
    [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
  };
  return (era === 'modern' ? declared : server.getClientCapabilities())?.elicitation?.url !== undefined;
}

/** Keyed, because a plain digest would let a short secret among the arguments be guessed. */
const secret = randomBytes(32);

function keyOf({ principal, params }: Visit): string {
  const call = JSON.stringify([principal, params.name, params.arguments ?? {}], inOrder);
  return createHmac('sha256', secret).update(call).digest('base64');
}

const inOrder = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

const expired = refusedCall('Error: This call no longer waits for an answer. Call again.', {
  code: 'cancelled',
  message: 'This call no longer waits for an answer.',
  hint: 'Call again.',
});
