/** What a person calls the browser of a User-Agent header: `Firefox on Linux`. The header is a claim, good for a list and nothing else. */
export function browserName(userAgent: string | undefined): string {
  const given = userAgent ?? '';
  const browser = browsers.find(([sign]) => given.includes(sign))?.[1];
  const system = systems.find(([sign]) => given.includes(sign))?.[1];
  // A script: `curl/8.5.0`.
  const other = /^[\w.-]{1,32}/.exec(given)?.[0];
  if (browser === undefined) return other === undefined || other === 'Mozilla' ? 'A browser' : other;
  return system === undefined ? browser : `${browser} on ${system}`;
}

/** Browsers also name those that they are compatible with: the first that fits counts. */
const browsers: readonly (readonly [string, string])[] = [
  ['Edg', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['FxiOS/', 'Firefox'],
  ['CriOS/', 'Chrome'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
];

const systems: readonly (readonly [string, string])[] = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
];
