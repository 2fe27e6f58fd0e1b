/** Something the palette can go to or do. */
export interface PaletteItem {
  readonly id: string;
  readonly kind: 'terminal' | 'agent' | 'page' | 'action';
  readonly words: string;
  /** A second fact, quieter; it is searched, too. */
  readonly fact?: string;
}

const most = 50;

/**
 * What a search finds, best first. `>` finds actions only. Every word of the search must stand in the item; a word at a beginning counts
 * more, and among equals what was used last comes first.
 */
export function found<Item extends PaletteItem>(
  items: readonly Item[],
  text: string,
  recent: readonly string[],
): Item[] {
  const isAction = text.trimStart().startsWith('>');
  const words = text.replace(/^\s*>/, '').toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (item: Item): number => {
    const at = recent.indexOf(item.id);
    return (score(item, words) ?? 0) * 1000 + (at < 0 ? 0 : 500 - Math.min(at, 499));
  };
  return items
    .filter((item) => (!isAction || item.kind === 'action') && score(item, words) !== undefined)
    .map((item) => ({ item, rank: rank(item) }))
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, most)
    .map(({ item }) => item);
}

/** Undefined: it does not fit. */
function score({ words, fact = '' }: PaletteItem, wanted: readonly string[]): number | undefined {
  const name = words.toLowerCase();
  const all = `${name} ${fact.toLowerCase()}`;
  let sum = 0;
  for (const word of wanted) {
    const at = all.indexOf(word);
    if (at < 0) return undefined;
    sum += name.startsWith(word) ? 3 : all[at - 1] === ' ' || at === 0 ? 2 : 1;
  }
  return sum;
}
