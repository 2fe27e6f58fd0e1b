import { z } from 'zod';
import { FairleadError } from '../../contract/errors.ts';
import { quote } from '../../contract/quote.ts';
import { operation } from '../../engine/call/operation.ts';
import { browserLogins, type BrowserLogin } from '../../engine/instances/browser-logins.ts';

const Login = z.object({
  login: z.string(),
  browser: z.string().describe('As the browser calls itself'),
  address: z.string().describe('Where it logged in from'),
  since: z.string(),
  usedAt: z.string(),
  expiresAt: z.string().describe('Unless it is used before that; a login lasts at most 30 days'),
});

export const list = operation({
  title: 'List signed-in browsers',
  summary: 'List the browsers that are signed in to the dashboard of this instance.',
  access: 'administer',
  readOnly: true,
  destructive: false,
  openWorld: false,
  cliDefault: true,
  input: z.strictObject({}),
  output: z.object({ logins: z.array(Login) }),
  run: async ({ engine }) => ({ logins: engine.service(browserLogins).list().map(describe) }),
  render: ({ logins }) => (logins.length === 0 ? 'No browser is signed in.' : logins.map(line).join('\n')),
});

export const end = operation({
  title: 'Sign a browser out',
  summary: 'Sign a browser out of the dashboard. Its pages lose their connection at once.',
  access: 'administer',
  destructive: true,
  idempotent: false,
  openWorld: false,
  input: z.strictObject({ login: z.string().min(1).max(64).describe('From login.list') }),
  output: z.object({ login: z.string(), ended: z.literal(true) }),
  positional: ['login'],
  about: ({ login }) => ({ detail: login }),
  async run({ input: { login }, engine }) {
    if (engine.service(browserLogins).end(login)) return { login, ended: true as const };
    throw new FairleadError('not_found', `No browser is signed in as ${quote(login)}.`, {
      hint: 'fairlead login list names them.',
    });
  },
  render: ({ login }) => `Signed out ${login}.`,
});

const describe = ({ id, browser, address, began, used, expires }: BrowserLogin): z.output<typeof Login> => ({
  login: id,
  browser,
  address,
  since: new Date(began).toISOString(),
  usedAt: new Date(used).toISOString(),
  expiresAt: new Date(expires).toISOString(),
});

const line = ({ login, browser, address, since, usedAt, expiresAt }: z.output<typeof Login>): string =>
  `${login}  ${browser}  from ${address}  since ${since}  used ${usedAt}  expires ${expiresAt}`;
