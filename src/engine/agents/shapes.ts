import type { Origin } from '../call/call.ts';
import type { ErrorCode } from '../../contract/errors.ts';
import type { Access } from '../call/operation.ts';
import type { CallPhase, CallPlace } from '../call/audit/audit.ts';

/** An instance uses approved, paused and revoked: the person let a client in by giving it the token. The others come with a hub. */
export const conversationStates = ['new', 'pending', 'approved', 'denied', 'paused', 'revoked', 'expired'] as const;
export type ConversationState = (typeof conversationStates)[number];

/** What would happen to a held call if it ran now. */
export interface HoldForecast {
  readonly kind: 'runs' | 'fails' | 'refused';
  readonly words: string;
}

/** A call that waits because a person paused its conversation. */
export interface HeldCallStatus {
  readonly id: string;
  /** Its row of the timeline. */
  readonly call: string;
  readonly op: string;
  readonly preview: string;
  readonly terminal?: string;
  /** In ms since the epoch, as all times here. */
  readonly since: number;
  readonly until: number;
  readonly isRunning: boolean;
  readonly would: HoldForecast;
}

/** One client of an instance, as a person sees it. */
export interface ConversationStatus {
  readonly id: string;
  readonly agent: string;
  readonly origin: Origin;
  readonly address?: string;
  readonly state: ConversationState;
  readonly pause?: PauseMark & { readonly all: boolean };
  readonly revoked?: PauseMark;
  readonly since: number;
  /** Absent: its door cannot tell. */
  readonly connected?: boolean;
  readonly counts: { readonly calls: number; readonly denied: number; readonly held: number; readonly failed: number };
  readonly bytesRead: number;
  readonly last?: { readonly at: number; readonly op: string; readonly terminal?: string };
  readonly held: HeldCallStatus[];
}

/** Who did it and when. */
export interface PauseMark {
  readonly by: string;
  readonly at: number;
}

/** Everything is paused. */
export interface PauseStatus extends PauseMark {
  /** Calls that wait. */
  readonly held: number;
  /** Commands of agents that were running and go on. */
  readonly running: number;
}

/** One row of the timeline: a call of an agent, or something that a person did. */
export interface CallRow extends Partial<CallPlace> {
  /** In the order of their beginning. */
  readonly id: string;
  readonly at: number;
  readonly conversation?: string;
  readonly who: { readonly kind: 'agent' | 'person'; readonly name: string };
  readonly op: string;
  readonly access: Access;
  readonly isCommand: boolean;
  readonly phase: CallPhase;
  readonly preview: string;
  readonly bytes: number;
  readonly ms: number;
  readonly code?: ErrorCode;
  /** Who dropped it, or why it ended without running. */
  readonly ended?: string;
  /** A held call is dropped then. */
  readonly until?: number;
}
