export const attentionKinds = [
  'password',
  'passphrase',
  'one_time_code',
  'yes_no',
  'fingerprint',
  'pager',
  'any_key',
  'choice',
] as const;
export type AttentionKind = (typeof attentionKinds)[number];

/** A program in a terminal waits for a person. */
export interface Attention {
  readonly kind: AttentionKind;
  /** The line it shows, as plain text; the line above it where that holds the question. */
  readonly prompt: string;
  /** What is typed must be seen by nobody: a model must not even be asked for it. */
  readonly secret: boolean;
  /** What to do, in one sentence. */
  readonly hint: string;
}
