/** Where to go after a login: a path of this app, which starts with one `/`. Anything else could lead to another site. */
export function safePath(given: string | null): string {
  if (given === null || !/^\/(?![/\\])/.test(given)) return '/';
  // Browsers drop tabs and line breaks from addresses, and read a backslash as a slash.
  return /[\s\\\u0000-\u001f]/.test(given) || given.startsWith('/login') ? '/' : given;
}

/** The address of the login page that leads back to a path. */
export const loginPath = (from: string): string =>
  safePath(from) === '/' ? '/login' : `/login?to=${encodeURIComponent(from)}`;

/** The code in what a person pasted: a whole link, or the code alone. */
export const codeIn = (pasted: string): string | undefined => /(?:^|#code=)([\w-]{20,200})$/.exec(pasted.trim())?.[1];
