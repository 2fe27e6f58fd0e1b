const words =
  'alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra ' +
  'tango uniform victor whiskey xray yankee zulu';

/** The names of instances in the order they are given out: the alphabet, then again with 2, 3 … 99. */
export function* instanceNames(): Generator<string> {
  const list = words.split(' ');
  yield* list;
  for (let round = 2; round <= 99; round += 1) for (const word of list) yield `${word}${round}`;
}
