import type { Caller } from '../../engine/call/call.ts';

/** A call that may follow, or another piece of advice. */
export interface Step {
  /** The tools and resource schemes (`shell://`) it names; it is given only where all of them are offered. */
  readonly needs: readonly string[];
  readonly text: string;
}

/** `ssh_shell_close(shell_id=…)` */
export const toolStep = (name: string, args = ''): Step => ({ needs: [name], text: `${name}${args}` });

export const followStep = (uri: string): Step => ({
  needs: ['sub_open', schemeOf(uri)],
  text: `sub_open uri=${uri} (PREFERRED — push-first)`,
});

export const followHint = (uri: string): Step => ({
  needs: [schemeOf(uri)],
  text: `subscribe to ${uri} for realtime output (preferred over polling)`,
});

/** The `next` of an answer: the steps whose tools the caller has. */
export function nextOf(caller: Caller, steps: readonly Step[]): { readonly next?: string } {
  const next = steps.filter((step) => canTake(caller, step)).map(({ text }) => text);
  return next.length === 0 ? {} : { next: next.join(' | ') };
}

export function hintOf(caller: Caller, hint: Step | undefined): { readonly hint?: string } {
  return hint !== undefined && canTake(caller, hint) ? { hint: hint.text } : {};
}

/** Without an offer the caller is on a face that has other names for these tools. */
export const canTake = ({ offers }: Caller, { needs }: Step): boolean =>
  offers !== undefined && needs.every((name) => offers(name));

/** `shell://` */
export const schemeOf = (uri: string): string => uri.slice(0, uri.indexOf('://') + 3);
