/** Enough that guessing is hopeless at any speed a port allows. Of 96 random bits, 16 characters, about 60 are counted. */
const neededBits = 48;

/** Bits of a token, counted low: pairs that were there before, or follow each other in the alphabet, count for nothing. */
export function tokenBits(token: string): number {
  const characters = [...token];
  const pairs = new Set(characters.map((character, at) => `${characters[at - 1] ?? ''}${character}`));
  const free = [...pairs].filter((pair) => !isStep(pair)).length;
  return free * Math.log2(Math.max(new Set(characters).size, 1));
}

function isStep(pair: string): boolean {
  const [one = 0, other = Number.POSITIVE_INFINITY] = [...pair].map((character) => character.codePointAt(0) ?? 0);
  return Math.abs(other - one) <= 1;
}

export const isStrong = (token: string): boolean => tokenBits(token) >= neededBits;
