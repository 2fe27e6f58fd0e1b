/** Enough that guessing at any speed is hopeless; a UUID has 122 bits, and is counted as about 80. */
const neededBits = 60;

/** Bits of a token, counted low: letters that repeat or follow each other in the alphabet count for nothing. */
export function tokenBits(token: string): number {
  const distinct = new Set(token).size;
  const steps = [...token].map((char) => char.codePointAt(0) ?? 0);
  const free = steps.filter((code, at) => at === 0 || Math.abs(code - (steps[at - 1] ?? 0)) > 1).length;
  const unit = /^(.+?)\1+$/s.exec(token)?.[1]?.length ?? token.length;
  return Math.min(free, unit) * Math.log2(Math.max(distinct, 1));
}

export const isStrong = (token: string): boolean => tokenBits(token) >= neededBits;
