/** Enough that guessing is hopeless at any speed a port allows. 96 random bits in 16 characters count as about 60. */
const neededBits = 48;

/** A low estimate of a token's bits: repeated pairs and alphabetical runs count for nothing. */
function tokenBits(token: string): number {
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
