import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { connect } from '../../../src/operations/remote/sessions.ts';
import { type AskOptions, masked, Remote } from './remote.ts';
import { type Sshd, type SshdOptions, startSshd } from './sshd.ts';

/** One server for all tests of a file. */
export function withSshd(use: (sshd: Sshd) => void, options: SshdOptions = {}): void {
  let sshd: Sshd | undefined;
  beforeAll(async () => {
    sshd = await startSshd(options);
    use(sshd);
  });
  afterAll(() => sshd?.[Symbol.asyncDispose]());
}

export interface LoggedIn {
  readonly sshd: Sshd;
  readonly at: Remote;
  readonly session_id: string;
}

/** One server for all tests of a file, and an engine with a session on it: for the whole file, or a new one for each test. */
export function withSession(use: (made: LoggedIn) => void, per: 'file' | 'test' = 'file'): void {
  let sshd: Sshd;
  let at: Remote | undefined;
  withSshd((started) => (sshd = started));
  const before = per === 'file' ? beforeAll : beforeEach;
  const after = per === 'file' ? afterAll : afterEach;
  before(async () => {
    at = new Remote({ connector: sshd.connector() });
    use({ sshd, at, session_id: await session(at, sshd) });
  });
  after(() => at?.[Symbol.asyncDispose]());
}

/** A new session for this server. */
export async function session(
  at: Remote,
  sshd: Sshd,
  changes: { readonly agent_id?: string; readonly key_path?: string } = {},
  options: AskOptions = {},
): Promise<string> {
  const { session_id } = await at.run(connect, { ...sshd.login, reuse: 'force_new', ...changes }, options);
  return session_id as string;
}

/** Text as it would be for alice@host:22, whatever this server and its user are called; ids and times replaced. */
export const asAlice = (text: string, sshd: Sshd): string =>
  masked(text)
    .replaceAll(sshd.user, 'alice')
    .replaceAll(sshd.address, 'host:22')
    .replaceAll(`[127.0.0.1]:${sshd.port}`, '[host]:22')
    .replaceAll(sshd.host, 'host')
    .replaceAll(sshd.folder, '/x');
