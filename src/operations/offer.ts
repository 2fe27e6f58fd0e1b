/** What this client is offered. Texts name no other tools. */
export interface Offer {
  /** Their names, and the schemes of resources (`shell://`). */
  readonly tools: ReadonlySet<string>;
  readonly readOnly: boolean;
}

/** A text that names tools; used only where all of them are offered. */
export interface Words<Text = string> {
  readonly tools: readonly string[];
  readonly text: Text;
}

export const fits =
  ({ tools: offered }: Offer) =>
  ({ tools }: Pick<Words, 'tools'>): boolean =>
    tools.every((name) => offered.has(name));

/** The first text whose tools are all offered, if any. */
export function wordsFor(offer: Offer, ways: readonly Words[]): string | undefined {
  return ways.find(fits(offer))?.text;
}
