/** A ready-made way of working that a person can pick in their client. Plain data: faces fold it into their protocol. */
export interface PromptArgument {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}

export interface Prompt {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly text: (values: Readonly<Record<string, string | undefined>>) => string;
}
