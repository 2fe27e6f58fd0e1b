import type { Me } from './feed.svelte.ts';

export type Start = { readonly me: Me } | { readonly login: string };

/** Of this origin, port included: cookies go to every port of a host, this does not, and only both together are a login. */
const csrfKey = 'fairlead-csrf';

/** Takes a login code out of the address before anything is requested, and asks who we are. */
export async function start(): Promise<Start> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  if (code !== undefined) {
    const answer = await post('/api/login', { code });
    if (!answer.ok) return { login: 'This link was used or is older than a minute.' };
    localStorage.setItem(csrfKey, ((await answer.json()) as { csrf_token: string }).csrf_token);
  }
  const csrf = localStorage.getItem(csrfKey);
  if (csrf === null) return { login: 'You are not logged in.' };
  const me = await fetch('/api/me', { headers: { 'x-csrf-token': csrf } });
  if (me.ok) return { me: { ...((await me.json()) as Omit<Me, 'csrf'>), csrf } };
  if (me.status === 401 || me.status === 403) localStorage.removeItem(csrfKey);
  return {
    login: me.status === 401 || me.status === 403 ? 'You are not logged in.' : `The server answered ${me.status}.`,
  };
}

const post = (path: string, body: object): Promise<Response> =>
  fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
