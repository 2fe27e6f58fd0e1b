import type { Caller } from '../call/call.ts';
import { plainText } from '../../lib/plain-text.ts';
import { handBackWords } from '../input/hand-back.ts';
import type { Terminal } from '../terminal/terminal.ts';
import type { ClientUse } from '../terminal/organs/usage.ts';

/** Who calls, as far as other clients are concerned. */
export type User = Partial<Pick<Caller, 'client' | 'name' | 'origin' | 'tell'>>;

/** So many users of a terminal are remembered; the oldest are forgotten first. */
const most = 64;

/** Tells clients, once, that a terminal they use is used by another client, too. */
export class TerminalUsers {
  /** The client opened it or types into it. */
  types(terminal: Terminal, user: User): void {
    const self = selfOf(user);
    if (self === undefined) return;
    const { seen } = useOf(terminal);
    seen.delete(self);
    seen.set(self, { name: user.name ?? 'unknown', isGone: false });
    const [oldest] = seen.keys();
    if (seen.size > most && oldest !== undefined) seen.delete(oldest);
  }

  /** The client will not come back. */
  leaves(terminal: Terminal, self: string): void {
    const seen = terminal.usage.clients?.seen;
    const user = seen?.get(self);
    if (user) seen?.set(self, { ...user, isGone: true });
  }

  /** The client is about to look at it or to type into it. `own`: it is the one the client gets when it names none. */
  meets(terminal: Terminal, user: User, own: boolean): void {
    if (user.tell === undefined) return;
    tellHandBack(terminal, user);
    const self = user.client?.self;
    if (self === undefined) return;
    const { seen, told } = useOf(terminal);
    const known = told.get(self) ?? new Set();
    const news = [...seen].filter(([other]) => other !== self && !known.has(other));
    if (news.length === 0) return;
    told.delete(self);
    told.set(self, new Set([...known, ...news.map(([other]) => other)].slice(-most)));
    const [oldest] = told.keys();
    if (told.size > most && oldest !== undefined) told.delete(oldest);
    const present = news.filter(([, { isGone }]) => !isGone);
    const names = (of: typeof news): string[] => [...new Set(of.map(([, { name }]) => name))];
    user.tell(present.length > 0 ? shared(terminal, names(present), own) : inherited(terminal, names(news)));
  }
}

/** The first that comes after a person handed the keyboard back learns what that person says. */
function tellHandBack({ place, input: { lease } }: Terminal, { tell }: User): void {
  const { handBack } = lease;
  if (!handBack || lease.holder?.isTaken === true) return;
  lease.told(handBack);
  tell?.(handBackWords(handBack, place.cwd));
}

const useOf = ({ usage }: Terminal): ClientUse => (usage.clients ??= { seen: new Map(), told: new Map() });

const selfOf = ({ client, name, origin }: User): string | undefined =>
  client?.self ?? (name === undefined || origin === undefined ? undefined : `${origin} ${name}`);

function shared({ id }: Terminal, names: readonly string[], own: boolean): string {
  const [who, verb] = names.length === 1 ? ['Another client', 'uses'] : ['Other clients', 'use'];
  const cure = own
    ? 'Open another terminal and pass its id to work alone.'
    : 'Leave the terminal out of your calls to use one of your own.';
  return `${who} (${list(names)}) also ${verb} terminal ${id}: you share its screen and its input. ${cure}`;
}

function inherited({ id }: Terminal, names: readonly string[]): string {
  return `Terminal ${id} was used before by a client that has left (${list(names)}): its directory and variables are as it left them.`;
}

const list = (names: readonly string[]): string =>
  names
    .slice(0, 3)
    .map((name) => JSON.stringify(plainText(name.slice(0, 60), { separator: ' ' }).text))
    .join(', ');
