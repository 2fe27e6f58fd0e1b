/** Only the person can give these: secrets, touches, and trust in a host. */
export const personKinds = ['password', 'passphrase', 'one_time_code', 'fingerprint', 'touch'] as const;
/** These an agent can answer itself. */
const inputKinds = ['yes_no', 'pager', 'any_key', 'choice', 'text'] as const;
export const promptKinds = [...personKinds, ...inputKinds] as const;
export type PromptKind = (typeof promptKinds)[number];

/** What a program takes for an answer. */
export interface Fits {
  /** Texts, or names of keys where `enter` is false. Empty: any text. */
  readonly answers: readonly string[];
  /** Enter ends the answer. */
  readonly enter: boolean;
  /** What Enter alone means, where the question says so. */
  readonly default?: string;
}

/** A program in a terminal waits for an answer. */
export interface ProgramPrompt {
  readonly kind: PromptKind;
  /** Who can give it. `input`: the agent itself, by typing. */
  readonly needs: 'person' | 'input';
  /** The line it shows, as plain text; the line above it where that holds the question. */
  readonly prompt: string;
  /** A secret: a model must not even be asked for it. */
  readonly secret: boolean;
  /** What to do, in one sentence. */
  readonly hint: string;
  /** Where `needs` is `input`. */
  readonly fits?: Fits;
}

const ofPerson: ReadonlySet<PromptKind> = new Set(personKinds);

export const needsOf = (kind: PromptKind): ProgramPrompt['needs'] => (ofPerson.has(kind) ? 'person' : 'input');
