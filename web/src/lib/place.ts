import { shown } from './visible.ts';

/** Where a terminal runs, from the target it was opened with. */
export interface Place {
  /** The machine, as a person would name it. */
  readonly machine: string;
  /** Kind and address, where it is not simply a local one: `ssh deploy@db-1:2222`. */
  readonly address?: string;
}

/** `here`: the name of the machine that serves the page. A target is `local`, or a kind and an address: `ssh:deploy@db-1`. */
export function placeOfTarget(target: string, here: string): Place {
  const [, kind, rest] = /^([a-z][a-z0-9+-]*):(?:\/\/)?(.*)$/s.exec(target) ?? [];
  if (kind === undefined || rest === undefined || rest === '') return { machine: shown(here, 64) };
  const address = shown(`${kind} ${rest}`, 80);
  // A path is a device of this machine.
  if (/^[/\\.]/.test(rest)) return { machine: shown(here, 64), address };
  return { machine: hostOf(rest), address };
}

/** The host in `user@host:port`. */
export const hostOf = (subject: string): string =>
  shown(
    subject
      .replace(/^.*@/s, '')
      .replace(/^\[(.*)\](?::\d+)?$/s, '$1')
      .replace(/^([^:]+):\d+$/, '$1'),
    64,
  );

/** The user in `user@host:port`. */
export const userOf = (subject: string): string | undefined => {
  const user = /^(.+)@/s.exec(subject)?.[1];
  return user === undefined ? undefined : shown(user, 40);
};
