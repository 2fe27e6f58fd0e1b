import { sendRefusal, sendText, wrongMethod } from './reply.ts';
import type { Route } from './route.ts';

/** For a process supervisor. It tells a stranger nothing but that the server runs. */
export const healthRoute: Route = {
  path: '/healthz',
  isPublic: true,
  handle({ request, response }) {
    if (request.method === 'GET') sendText(response, 200, 'ok\n', { 'content-type': 'text/plain' });
    else sendRefusal(response, wrongMethod('GET'));
    return Promise.resolve();
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
};
