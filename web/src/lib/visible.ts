import { visible } from '../../../src/contract/quote.ts';

const longest = 500;

/** Words of a program, an agent or a machine, as text that cannot pass for ours: one line, nothing invisible, not too long. */
export const shown = (text: string, most = longest): string => {
  const line = visible(text.replaceAll(/\s+/g, ' '));
  return line.length > most ? `${line.slice(0, most)}…` : line;
};
