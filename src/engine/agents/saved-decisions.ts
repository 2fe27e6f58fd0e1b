import type { Caller } from '../call/call.ts';
import type { Engine } from '../engine.ts';
import type { Agents } from './agents.ts';
import { AgentConversation } from './conversation.ts';
import { serverEnded } from './holding.ts';
import type { PauseFile, SavedPause } from './saved-pause.ts';

/** Of a call that ends without having run. */
export const dropEntry = (now: number, since: number) =>
  ({
    at: new Date(now).toISOString(),
    allowed: true,
    error: 'hold_dropped',
    phase: 'dropped',
    durationMs: now - since,
  }) as const;

/** Keeps what a person decided about agents over restarts, and tells what waited when a server was killed. */
export class SavedDecisions {
  readonly #file: PauseFile;
  readonly #agents: Agents;
  readonly #engine: Engine;

  constructor(file: PauseFile, agents: Agents, engine: Engine) {
    this.#file = file;
    this.#agents = agents;
    this.#engine = engine;
  }

  /** Where it cannot be told what was paused, everything is: a person looks at it and resumes. */
  restore(): void {
    const { clock, log } = this.#engine;
    const { pauses, conversations } = this.#agents;
    let saved: SavedPause | undefined;
    try {
      saved = this.#file.load();
    } catch (error) {
      log?.(`Everything is paused: what was paused before cannot be read (${(error as Error).message}).`);
      pauses.pauseAll({ by: 'fairlead', at: clock.now() }, []);
    }
    if (!saved) return;
    pauses.restore(saved.order, saved.all);
    for (const one of saved.conversations) {
      const { id, principal, agent: name, origin, pause, resumed, revoked } = one;
      const caller: Caller = { name, principal, origin, may: () => false };
      const conversation = new AgentConversation(id, caller, clock);
      Object.assign(conversation, { pause, resumed, revoked });
      conversations.restore(conversation);
    }
    this.#drop(saved.held);
    this.save();
  }

  save(): void {
    const { pauses, conversations, holding } = this.#agents;
    const { all, order } = pauses;
    const decided = conversations.all.filter(({ pause, resumed, revoked }) => pause || revoked || (all && resumed > 0));
    this.#file.save({
      order,
      ...(all && { all }),
      conversations: decided.map(({ id, principal, agent, caller: { origin }, pause, resumed, revoked }) => ({
        id,
        principal,
        agent,
        origin,
        ...(pause && { pause }),
        resumed,
        ...(revoked && { revoked }),
      })),
      held: holding.holds.all.map(({ call, conversation, operation, op: { access }, preview, since, terminal }) => ({
        call,
        conversation: conversation.id,
        agent: conversation.agent,
        origin: conversation.caller.origin,
        op: operation,
        access,
        preview,
        since,
        ...(terminal && { terminal: terminal.id }),
      })),
    });
  }

  /** What waited when another process was killed never runs. */
  #drop(held: SavedPause['held']): void {
    const { audit, clock } = this.#engine;
    for (const { op: operation, agent: caller, since, preview: detail, terminal, ...one } of held) {
      audit.add({ ...one, ...dropEntry(clock.now(), since), operation, caller, terminal, detail, ended: serverEnded });
    }
  }
}
