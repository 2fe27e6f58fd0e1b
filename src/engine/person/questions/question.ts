import type { PromptKind } from '../prompts/prompt.ts';

/** Something only the person knows, that a call cannot go on without. */
export interface PersonQuestion {
  readonly kind: PromptKind;
  /** What it is about, as the person would name it: `alice@db.example:22`. An answer fits nothing else, and no other prompt. */
  readonly subject: string;
  /** The question in words. It may come from a far side, so it is shown as plain text and never as more. */
  readonly prompt: string;
  /** The answer is a secret. */
  readonly secret: boolean;
  /** How long the person has. Five minutes unless said. */
  readonly limitMs?: number;
}

/** A question with its owner: an answer is only ever given to calls of the same principal. */
export interface OwnedQuestion extends PersonQuestion {
  readonly principal: string;
  /** What the asking side calls itself: a claim, good for showing. */
  readonly asker: string;
}

/** A question that waits for the person, as any door to the person may show it. */
export interface OpenQuestion {
  readonly id: string;
  readonly kind: PromptKind;
  readonly subject: string;
  readonly prompt: string;
  readonly secret: boolean;
  readonly principal: string;
  readonly asker: string;
  /** When it was asked, and when it is too old. ISO 8601. */
  readonly since: string;
  readonly expiresAt: string;
}

/** `declined`: the person said no, on our own page. `expired`: no answer came in time. */
export type Outcome =
  | { readonly by: 'answer'; readonly text: string }
  | { readonly by: 'declined' }
  | { readonly by: 'expired' };

/** A way to the person behind a call. The face through which the call came supplies it, if its client can be asked. */
export interface PersonReach {
  /**
   * Tells the person where to answer; never asks for the answer itself. False: the client declined, on its own or for
   * the person. Rejects when the client failed to show it. Aborted when the question is settled in another way.
   */
  readonly show: (question: OpenQuestion, signal: AbortSignal) => Promise<boolean>;
  /** The person has answered: what was shown can go. */
  readonly answered: (question: OpenQuestion) => Promise<void>;
}

/** How a question ended, for those who watch. */
export type Settled = 'answered' | 'declined' | 'expired';

/** A question was asked, or is settled. */
export interface QuestionChange {
  readonly question: OpenQuestion;
  readonly isOpen: boolean;
  readonly settled?: Settled;
}
