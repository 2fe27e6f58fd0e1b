import { feed } from './feed.svelte.ts';

/**
 * Ends the login of this browser and forgets what it kept. The server closes every socket of it, so its other tabs are back at the login,
 * too. Without a link the page loads again and the login stays: its cookie would be good.
 */
export async function logOut(): Promise<void> {
  // The end of the login would load this page again before it has forgotten anything.
  feed.live?.end();
  const headers = { 'x-csrf-token': feed.me?.csrf ?? '' };
  const answer = await fetch('/api/logout', { method: 'POST', headers }).catch(() => undefined);
  const isOver = answer?.ok === true || answer?.status === 401 || answer?.status === 403;
  if (!isOver) return location.reload();
  localStorage.clear();
  location.replace('/login');
}
