import type { TargetList } from './shapes.ts';

/** What the sheet for a new terminal offers. */
export interface OpenChoice {
  /** What a person types to mean it. */
  readonly text: string;
  readonly label: string;
  readonly detail: string;
  readonly request: OpenWhere;
  /** What has it, where only one at a time can. */
  readonly inUseBy?: string;
}

/** The part of the call that says where. */
export interface OpenWhere {
  readonly target: string;
  readonly shell?: string;
  readonly argv?: readonly string[];
}

/** The target without the word for its kind. */
export const placeIn = (target: string): string => target.slice(target.indexOf(':') + 1);

/** The person's shell, what else can be opened, then the other shells of this machine; what was used last comes first. */
export function choicesOf({ targets, shells }: TargetList, recent: readonly string[]): OpenChoice[] {
  const own = targets.flatMap(({ target, kind, isPattern }): OpenChoice[] => {
    if (isPattern === true || target !== kind) return [];
    return [{ text: target, label: 'Your shell', detail: 'on this machine', request: { target } }];
  });
  const target = own[0]?.text ?? 'local';
  const named = shells.map((shell) => ({
    text: shell,
    label: shell,
    detail: 'on this machine',
    request: { target, shell },
  }));
  const others = targets.flatMap(({ target, kind, summary, isPattern, inUseBy }): OpenChoice[] =>
    isPattern === true || target === kind
      ? []
      : [
          {
            text: target,
            label: placeIn(target),
            detail: `${kind} · ${summary}`,
            request: { target },
            ...(inUseBy !== undefined && { inUseBy }),
          },
        ],
  );
  const listed = new Set([...own, ...others, ...named].map(({ text }) => text));
  const typed = recent.filter((text) => !listed.has(text)).map(asTyped);
  const all = [...own, ...others, ...typed, ...named];
  const rank = ({ text }: OpenChoice): number => {
    const at = recent.indexOf(text);
    return at < 0 ? recent.length : at;
  };
  return all.toSorted((one, other) => rank(one) - rank(other));
}

const asTyped = (text: string): OpenChoice => ({
  text,
  label: text,
  detail: 'used before',
  request: whereOf(text, []) ?? { target: text },
});

/** Those that a person who typed so much can mean. */
export function matching(choices: readonly OpenChoice[], typed: string): OpenChoice[] {
  const wanted = typed.trim().toLowerCase();
  return choices.filter(({ text, label, detail }) => `${text} ${label} ${detail}`.toLowerCase().includes(wanted));
}

/** What a text means: a choice, a target, or else a program of this machine with its arguments. */
export function whereOf(typed: string, choices: readonly OpenChoice[]): OpenWhere | undefined {
  const text = typed.trim();
  if (text === '') return undefined;
  const chosen = choices.find((one) => one.text === text) ?? choices.find((one) => one.label === text);
  if (chosen) return chosen.request;
  if (/^[a-z][a-z\d+.-]*:/.test(text)) return { target: text };
  const argv = [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, word]) => double ?? single ?? word ?? '',
  );
  return { target: here(choices), argv };
}

const here = (choices: readonly OpenChoice[]): string =>
  choices.find(({ request: { target } }) => !target.includes(':'))?.request.target ?? 'local';
