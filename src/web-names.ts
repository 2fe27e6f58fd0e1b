import { isIPv6 } from 'node:net';
import { z } from 'zod';

/** Names of hosts and origins in the form in which requests carry them, however a person wrote them. */

const wrongHost = 'is not a host name; write the name alone, such as box.example';
const wrongOrigin = 'is not an origin; write scheme, host and port alone, such as https://app.example';

/** In small letters and without a port: whichever port a request names, it came to ours. */
export const HostName = z.string().transform((text, context) => {
  const host = text.trim();
  const url = /[/?#@*\\\s]/.test(host) ? undefined : parse(`http://${isIPv6(host) ? `[${host}]` : host}`);
  if (url && url.hostname !== '') return url.hostname;
  context.addIssue(wrongHost);
  return z.NEVER;
});

/** As browsers send it: no path, no slash at its end, no port where it is the usual one. */
export const WebOrigin = z.string().transform((text, context) => {
  const origin = text.trim();
  // Pages from files and sandboxes; whoever allows them says so in their word.
  if (origin === 'null') return origin;
  const url = /[*\s]/.test(origin) || !origin.includes('://') ? undefined : parse(origin);
  if (url && url.host !== '' && /^\/?$/.test(url.pathname + url.search + url.hash) && url.username === '') {
    return `${url.protocol}//${url.host}`;
  }
  context.addIssue(wrongOrigin);
  return z.NEVER;
});

const parse = (text: string): URL | undefined => (URL.canParse(text) ? new URL(text) : undefined);
