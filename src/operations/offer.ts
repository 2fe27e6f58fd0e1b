/** The tools a model really has here, and so the only ones to speak of. */
export interface Offer {
  readonly tools: ReadonlySet<string>;
  readonly readOnly: boolean;
}

/** Words that name tools, good only where all of those are offered. */
export interface Words<Text = string> {
  readonly tools: readonly string[];
  readonly text: Text;
}

export const fits =
  ({ tools: offered }: Offer) =>
  ({ tools }: Pick<Words, 'tools'>): boolean =>
    tools.every((name) => offered.has(name));

/** The first of several ways to put it that fits, if any does. */
export function wordsFor(offer: Offer, ways: readonly Words[]): string | undefined {
  return ways.find(fits(offer))?.text;
}
