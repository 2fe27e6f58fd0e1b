import type { Launch } from '../terminal/launch.ts';

/** What a terminal is to those who use it, whichever process serves it. */
export interface TerminalFacts {
  readonly number: number;
  /** The number of the next terminal, as far as was known: those of terminals that are gone are not given again. */
  readonly next?: number | undefined;
  readonly target: string;
  readonly program: string;
  /** In ms since the epoch. */
  readonly createdAt: number;
  readonly name?: string | undefined;
  readonly launch?: Launch | undefined;
  readonly owner?: string | undefined;
  readonly nonce?: string | undefined;
  /** The newest recording of it, which the next process continues. */
  readonly log?: string | undefined;
  /** `default` is the session that calls without a name mean. */
  readonly role?: 'default' | 'session' | undefined;
  /** Part files of the recordings that run. */
  readonly recordings?: readonly string[] | undefined;
}

export const encodeFacts = (facts: TerminalFacts): Uint8Array => Buffer.from(JSON.stringify(facts));

/** Undefined if there are none, or in another format. */
export function decodeFacts(bytes: Uint8Array | undefined): TerminalFacts | undefined {
  if (!bytes) return undefined;
  try {
    const facts = JSON.parse(Buffer.from(bytes).toString()) as TerminalFacts;
    const isOurs = Number.isInteger(facts.number) && typeof facts.program === 'string' && facts.createdAt > 0;
    return isOurs ? facts : undefined;
  } catch {
    return undefined;
  }
}
