import { sendJson, sendRefusal, wrongMethod } from './reply.ts';
import type { HttpVisit, Route } from './route.ts';

/** What a page needs to know before anything else. */
interface AboutServer {
  /** `instance`: the terminals of one machine. */
  readonly host: 'instance' | 'hub';
  /** How it is called. */
  readonly name: string;
  readonly version: string;
  /** What its callers may do; a page shows nothing else. */
  readonly can: readonly string[];
}

/** `GET /api/me`: where the page is and what it may do. As every request with a cookie it needs the CSRF token of its login. */
export function meRoute(about: AboutServer): Route {
  return {
    path: '/api/me',
    takesCookie: true,
    handle({ request, response }: HttpVisit) {
      if (request.method !== 'GET') sendRefusal(response, wrongMethod('GET'));
      else sendJson(response, 200, { ...about, now: new Date().toISOString() });
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
