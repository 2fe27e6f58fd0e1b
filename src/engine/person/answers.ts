import type { PromptKind, Fits } from './prompts/prompt.ts';

/** What fits a question that an agent can answer, by its words. Every pattern runs in linear time. */
export function answersTo(kind: PromptKind, line: string, above: readonly string[]): Fits | undefined {
  switch (kind) {
    case 'pager':
      return { answers: ['q', 'Space'], enter: false };
    case 'any_key':
      return { answers: [/\bspace ?bar\b/i.test(line) ? 'Space' : 'Enter'], enter: false };
    case 'yes_no':
      return yesOrNo(line, above);
    case 'choice':
      return oneOf(line, above);
    case 'text':
      return { answers: [], enter: true, ...standing(defaultText.exec(line)?.[1] ?? defaultText.exec(line)?.[2]) };
    default:
      return undefined;
  }
}

/** `[Y/n]`, `([y]/n)`, `(yes/no) [no]`, `[yn]`, `(y or n)`: both words, then what stands behind them. */
const pair =
  /[[(<]\s?(\[?)(\p{L}{1,4})\]?\s?(?:\/|\||,|\sor\s)\s?(\[?)(\p{L}{1,4})\]?[^\])>]{0,3}[\])>](?:\s?[[(](?:default\s?[=:]\s?)?(\p{L}{1,8})[\])])?/iu;
/** npm: "Is this OK? (yes)". */
const single = /\?\s\((y|yes|n|no)\)$/i;

function yesOrNo(line: string, above: readonly string[]): Fits {
  const words = /\btype ['"]?yes\b|yes\/no|yes or no/i.test(line) || above.some((text) => /only 'yes'/i.test(text));
  const only = single.exec(line)?.[1]?.toLowerCase();
  if (only !== undefined) return { answers: only.length > 1 ? ['yes', 'no'] : ['y', 'n'], enter: true, default: only };
  const found = pair.exec(line);
  if (!found) return { answers: words ? ['yes', 'no'] : ['y', 'n'], enter: true };
  const [, yesMarked, yes = 'y', noMarked, no = 'n', said] = found;
  const isStanding = (word: string, other: string, mark: string | undefined, otherMark: string | undefined): boolean =>
    mark !== '' ? otherMark === '' : otherMark === '' && isUpper(word) && !isUpper(other);
  const preset =
    said ??
    (isStanding(yes, no, yesMarked, noMarked) ? yes : isStanding(no, yes, noMarked, yesMarked) ? no : undefined);
  return { answers: [yes.toLowerCase(), no.toLowerCase()], enter: true, ...standing(preset?.toLowerCase()) };
}

const isUpper = (word: string): boolean => word.charAt(0) !== word.charAt(0).toLowerCase();

/** A list in brackets: `[y,n,q,a,d,e,?]`, `(Y/I/N/O/D/Z)`. */
const listed = /[[(]((?:[^\s,[\]()]{1,8}[,/|]\s?){2,20}[^\s,[\]()]{1,8})[\])]/;
const lettered = /[[(]([a-z])[\])][\w -]{1,20}(?=[,/:?]|$)/gi;
const preset = /\[(?:default\s?[=:]\s?)?([^\]\s]{1,24})\]\s?[?:>]{0,2}$/i;

function oneOf(line: string, above: readonly string[]): Fits {
  if (/\(use (?:the )?arrow keys/i.test(line)) return { answers: ['ArrowUp', 'ArrowDown', 'Enter'], enter: false };
  const list = listed.exec(line);
  const rest = list ? line.slice(list.index + list[0].length) : line;
  const letters = [...line.matchAll(lettered)].map(([, letter = '']) => letter);
  const numbers = above.flatMap((text) => /^\s*(\d{1,4})[).] /.exec(text)?.[1] ?? []);
  const answers =
    list?.[1]?.split(separator(list[1])).map((word) => word.trim()) ?? (letters.length > 1 ? letters : numbers);
  const given = list || letters.length === 0 ? preset.exec(rest)?.[1] : undefined;
  // "[1-3]" says what fits, not what is taken.
  return { answers, enter: true, ...standing(given !== undefined && /^\d+\W+\d+$/.test(given) ? undefined : given) };
}

/** git takes "/" for an answer: what separates most of them is the separator. */
const separator = (list: string): string => (list.includes(',') ? ',' : list.includes('|') ? '|' : '/');

/** npm: "package name: (demo)"; others: "Where to? [/usr/local]", "Port [8080]:". */
const defaultText = /[:?]\s\(([^)]{1,100})\)$|\[([^\]]{1,100})\]\s?[:?]?$/;

const standing = (text: string | undefined): { readonly default?: string } =>
  text === undefined ? {} : { default: text };
