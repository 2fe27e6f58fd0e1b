import { sendJson, sendRefusal, wrongMethod } from './reply.ts';
import type { HttpVisit, Route } from './route.ts';

/** What a page needs to know before anything else. */
interface AboutServer {
  /** `instance`: the terminals of one machine. */
  readonly host: 'instance' | 'hub';
  /** How it is called. */
  readonly name: string;
  readonly version: string;
  /** The person whose terminals these are. */
  readonly you: { readonly id: string; readonly name: string; readonly initials: string };
  readonly role: 'viewer' | 'operator' | 'owner';
  /** What its callers may do, by name; a page shows nothing else. */
  readonly can: readonly string[];
}

/**
 * `GET /api/me`: where the page is and what it may do. As every request with a cookie it needs the CSRF token of its login, and it never
 * gives one: decision 35.
 */
export function meRoute(about: AboutServer): Route {
  return {
    path: '/api/me',
    takesCookie: true,
    handle({ request, response, login }: HttpVisit) {
      if (request.method !== 'GET') sendRefusal(response, wrongMethod('GET'));
      else sendJson(response, 200, { ...about, login: login?.id, now: new Date().toISOString() });
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** `Ada Lovelace` → `AL`, `deploy` → `DE` */
export function initialsOf(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const [first = '?', last = ''] = words.length > 1 ? [words[0], words.at(-1)] : [words[0]];
  const letters = last === '' ? [...first].slice(0, 2) : [...first].slice(0, 1).concat([...last].slice(0, 1));
  return letters.join('').toUpperCase();
}
