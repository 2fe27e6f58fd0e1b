import type { Me } from './feed.svelte.ts';
import { loginPath, safePath } from './safe-path.ts';

/** `isAnswered`: the server was there, and a login is what is missing. */
export type Start = { readonly me: Me } | { readonly login: string; readonly isAnswered: boolean };

/** Of this origin, port included: cookies go to every port of a host, this does not, and only both together are a login. */
export const csrfKey = 'fairlead-csrf';

/** Takes a login code out of the address before anything is requested, and asks who we are. */
export async function start(): Promise<Start> {
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  try {
    const why = code === undefined ? undefined : await logIn(code);
    if (why !== undefined) return away(why);
    return await whoAmI();
  } catch {
    return { login: 'The server does not answer.', isAnswered: false };
  }
}

/** Why it did not work; undefined when the browser is logged in. */
export async function logIn(code: string): Promise<string | undefined> {
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch('/api/login', { method: 'POST', headers, body: JSON.stringify({ code }) });
  if (answer.ok) {
    localStorage.setItem(csrfKey, ((await answer.json()) as { csrf_token: string }).csrf_token);
    return undefined;
  }
  if (answer.status === 429) return 'Too many tries from this address. Try again in 15 minutes.';
  return 'This link was used or is older than a minute.';
}

/** The page that was asked for before the login. */
export const wayBack = (): string => safePath(new URLSearchParams(location.search).get('to'));

async function whoAmI(): Promise<Start> {
  const csrf = localStorage.getItem(csrfKey);
  if (csrf === null) return away('You are not logged in.');
  const me = await fetch('/api/me', { headers: { 'x-csrf-token': csrf } });
  if (me.ok) {
    if (location.pathname === '/login') history.replaceState(null, '', wayBack());
    return { me: { ...((await me.json()) as Omit<Me, 'csrf'>), csrf } };
  }
  if (me.status !== 401 && me.status !== 403) return { login: `The server answered ${me.status}.`, isAnswered: false };
  localStorage.removeItem(csrfKey);
  return away('You are not logged in.');
}

function away(login: string): Start {
  const { pathname, search } = location;
  if (pathname !== '/login') history.replaceState(null, '', loginPath(pathname + search));
  return { login, isAnswered: true };
}
