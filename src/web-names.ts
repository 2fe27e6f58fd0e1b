import { isIPv6 } from 'node:net';
import { z } from 'zod';

/** Names of hosts and origins in the form in which requests carry them, however a person wrote them. */

const wrongHost = 'is not a host name; write the name alone, such as box.example';
const wrongOrigin = 'is not an origin; write scheme, host and port alone, such as https://app.example';

/** In lower case and without a port: a request that arrives here came to our port. */
export const HostName = z.string().transform((text, context) => {
  const host = text.trim();
  const url = /[/?#@*\\\s]/.test(host) ? undefined : parse(`http://${isIPv6(host) ? `[${host}]` : host}`);
  if (url && url.hostname !== '') return url.hostname;
  context.addIssue(wrongHost);
  return z.NEVER;
});

/** As browsers send it: no path, no trailing slash, no default port. */
export const WebOrigin = z.string().transform((text, context) => {
  const origin = text.trim();
  // The origin of pages from files and sandboxes; allowed if the setting names it.
  if (origin === 'null') return origin;
  const url = /[*\s]/.test(origin) || !origin.includes('://') ? undefined : parse(origin);
  if (url && url.host !== '' && /^\/?$/.test(url.pathname + url.search + url.hash) && url.username === '') {
    return `${url.protocol}//${url.host}`;
  }
  context.addIssue(wrongOrigin);
  return z.NEVER;
});

const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);
