import { Script } from 'node:vm';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Redactor } from './redactor.ts';
import { cpuTimer, leastCpu } from '../../../test/support/clocks/cpu-timer.ts';

const redactor = new Redactor({ key: new TextEncoder().encode('test installation') });
const mask = /<redacted:[0-9a-f]{8}>/g;
const shown = (text: string): string => redactor.redactText(text).text.replace(mask, '‹›');

// Built from halves, so that scanners of this repository do not take the examples for leaks.
const j = (...parts: string[]): string => parts.join('');
const github = j('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a');
const jwt = j('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U');
const awsSecret = j('wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEXAMPLEKEY');
const hex40 = '3b18e512dba79e4c8300dd08aeb37f8e728b8dad';
const hex64 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

describe('named formats (R-RPC-081)', () => {
  test.each([
    [github, '‹›'],
    [`token is ${github}.`, 'token is ‹›.'],
    [j('github', '_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789'), '‹›'],
    [j('glpat', '-xyzABC123_defGHI456j'), '‹›'],
    [j('xoxb', '-1234567890-abcdefghijkl'), '‹›'],
    [j('sk', '-proj-abc123DEF456ghi789'), '‹›'],
    [j('sk', '-ant-api03-abcDEF123456'), '‹›'],
    [j('sk', '-abcd1234'), '‹›'],
    [j('AKIA', 'IOSFODNN7EXAMPLE'), '‹›'],
    [j('ASIA', 'IOSFODNN7EXAMPLE'), '‹›'],
    [j('AIza', 'SyA1234567890abcdefghijklmnopqrstuv'), '‹›'],
    [j('npm', '_abcdefghijklmnopqrstuvwxyz0123456789'), '‹›'],
    [jwt, '‹›'],
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer ‹›'],
    ['authorization: Basic dXNlcjpwYXNz', 'authorization: Basic ‹›'],
    [`curl -H "Authorization: Bearer ${jwt}" https://x`, 'curl -H "Authorization: Bearer ‹›" https://x'],
    ['{"Authorization": "token abcd1234"}', '{"Authorization": "token ‹›"}'],
    ['Cookie: sid=abc123; theme=dark', 'Cookie: ‹›'],
    ['Set-Cookie: sid=abc123; Path=/; HttpOnly', 'Set-Cookie: sid=‹›; Path=/; HttpOnly'],
    ['machine h login me password hunter2', 'machine h login me password ‹›'],
  ])('masks %s', (text, expected) => expect(shown(text)).toBe(expected));

  test('masks the body of a private key block, and only it', () => {
    const block =
      '-----BEGIN RSA PRIVATE KEY-----\r\nMIIEpAIBAAKCAQEA\r\nabcd\r\n-----END RSA PRIVATE KEY-----\r\nnext\r\n';
    expect(shown(block)).toBe('-----BEGIN RSA PRIVATE KEY-----\r\n‹›\r\n-----END RSA PRIVATE KEY-----\r\nnext\r\n');
    expect(shown('-----BEGIN OPENSSH PRIVATE KEY-----\nMIIEpAIB\nabcd\n$ ls -l\n')).toBe(
      '-----BEGIN OPENSSH PRIVATE KEY-----\n‹›\n$ ls -l\n',
    );
    const open = '-----BEGIN CERTIFICATE-----\nMIIEpAIB\n-----END CERTIFICATE-----\n';
    expect(shown(open)).toBe(open);
  });

  test.each([
    'task-12345678',
    'risk-averse-person',
    'npm_config_registry',
    'sk-learn-like',
    'the bearer authentication scheme',
  ])('leaves %s', (text) => expect(shown(text)).toBe(text));
});

describe('names and values (R-RPC-080)', () => {
  test.each([
    ['GITHUB_TOKEN=abc123', 'GITHUB_TOKEN=‹›'],
    ['API_KEY=abcdefg', 'API_KEY=‹›'],
    ['export API_KEY="a b c" && ls', 'export API_KEY="‹›" && ls'],
    [`aws_secret_access_key = ${awsSecret}`, 'aws_secret_access_key = ‹›'],
    ['{"token":"abc","user":"me"}', '{"token":"‹›","user":"me"}'],
    ['{\\"token\\":\\"abc\\",\\"user\\":\\"me\\"}', '{\\"token\\":\\"‹›\\",\\"user\\":\\"me\\"}'],
    ['password: two words', 'password: ‹›'],
    ['password: "two words" # note', 'password: "‹›" # note'],
    ["password: 'it', user: x", "password: '‹›', user: x"],
    ['  db.password = two words  \r\nnext', '  db.password = ‹›  \r\nnext'],
    ['mytool --password x --user y', 'mytool --password ‹› --user y'],
    ['mytool --db-password=x y', 'mytool --db-password=‹› y'],
    ["mysql -uroot -p'x y' db", "mysql -uroot -p'‹›' db"],
    ['mysqldump -h host -psecret db', 'mysqldump -h host -p‹› db'],
    ['sshpass -p hunter2 ssh host', 'sshpass -p ‹› ssh host'],
    ['docker login -u me -p hunter2', 'docker login -u me -p ‹›'],
    ['curl -u me:hunter2 https://x', 'curl -u me:‹› https://x'],
    ['DB_PASS=hunter2 ./run', 'DB_PASS=‹› ./run'],
    ['client_secret=abc&grant=x', 'client_secret=‹›&grant=x'],
    ['https://x/?access_token=abc123&b=c', 'https://x/?access_token=‹›&b=c'],
    ['secret_key_base: 0123abcd', 'secret_key_base: ‹›'],
    ["$config['password'] = 'x1';", "$config['password'] = '‹›';"],
    ['accessKey: abcd1234efgh', 'accessKey: ‹›'],
    ['key: s3cr3tvalue', 'key: ‹›'],
    ['//registry.example.org/:_authToken=abc123', '//registry.example.org/:_authToken=‹›'],
    ['PASSWORD: hunter2\nuser: me', 'PASSWORD: ‹›\nuser: me'],
  ])('masks %s', (text, expected) => expect(shown(text)).toBe(expected));

  test.each([
    'primary key: id',
    'primary key: customer_identifier',
    'key: value',
    '  - key: name\n    value: x',
    'tokens: 512',
    'max_tokens=4096',
    'token_count: 5',
    'monkey: bananas12',
    'turkey=sandwich1',
    'Password: ',
    '[sudo] password for me: ',
    'password: null',
    'password: string;',
    'PasswordAuthentication yes',
    'mytool --password-stdin',
    'mytool --password --user y',
    'PWD=/home/me/project-1',
    'ssl_key: /etc/ssl/private/key.pem',
    'PUBLIC_KEY=abcd1234',
    'PASS: test_login (0.01 s)',
    'TOKEN=$OTHER_TOKEN',
    'const token = getToken(request)',
    'ssh -p 2222 host',
    'mkdir -p some/dir && mysql -uroot -p',
    'kind: Secret',
    'hotkey: Ctrl+Shift+P',
  ])('leaves %s', (text) => expect(shown(text)).toBe(text));
});

describe('URLs (R-RPC-082)', () => {
  test.each([
    ['https://user:pw@host/path?x=1', 'https://user:‹›@host/path?x=1'],
    ['postgres://me:p@ss@db:5432/x', 'postgres://me:‹›@db:5432/x'],
    ['redis://:hunter2@cache', 'redis://:‹›@cache'],
  ])('masks the password of %s', (text, expected) => expect(shown(text)).toBe(expected));
  test.each([
    'https://host:8080/a@b',
    'git@github.com:org/repo.git',
    'https://user@host/',
    'https://${USER}:${PASSWORD}@host/',
  ])('leaves %s', (text) => expect(shown(text)).toBe(text));
});

describe('entropy (R-RPC-083)', () => {
  test.each([
    [awsSecret, '‹›'],
    ['k3j4h5g6f7d8s9a0q1w2e3r4t5y6u7i8o9p0z1x2', '‹›'],
    [`value ${hex64} end`, 'value ‹› end'],
    ['dGhpcyBpcyBhIHNlY3JldCB2YWx1ZSBvZiBzb21lIGxlbmd0aCE=', '‹›'],
  ])('masks %s', (text, expected) => expect(shown(text)).toBe(expected));
  test.each([
    '/usr/local/lib/node_modules/npm/node_modules/some-package2/dist/Index3',
    '~/projects/fairlead/src/engine/recording/castWriter2/another-folder',
    'src/engine/recording/cast-writer/some-long-folder/Another2/index.test.ts',
    `/var/lib/docker/overlay2/${hex64}/merged`,
    `commit ${hex40}`,
    `commit ${hex40} (HEAD -> main, origin/main)`,
    `index ${hex40}..${hex40} 100644`,
    `Merge: ${hex40} ${hex40}`,
    `    Merge commit '${hex40}' into main`,
    `${hex40}\trefs/heads/main`,
    `100644 blob ${hex40}\tREADME.md`,
    `${hex64}  some-file.tar.gz`,
    `${hex64} *some-file.tar.gz`,
    `SHA256 (file.iso) = ${hex64}`,
    `sha256:${hex64}`,
    '----------------------------------------------------------------',
    '================================================',
    '-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-=-',
    '123e4567-e89b-12d3-a456-426614174000',
    '123e4567-e89b-12d3-a456-426614174000_123e4567-e89b-12d3-a456-426614174001',
    'this_is_a_rather_long_function_name_for_a_test_of_version_2',
    'ingress-nginx-controller-deployment-5d88495688-abcde',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG3k5x0Yb7Rr6Zr0cQmVd8nJ2y1Hf4Lk9Tt5Ww8Xx3Zz me@host',
    'SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    '0000000000000000000000000000000000000000',
  ])('leaves %s', (text) => expect(shown(text)).toBe(text));
});

describe('masks', () => {
  test('equal secrets look equal, other keys give other tags, and masking twice changes nothing', () => {
    const { text, count } = redactor.redactText(`GITHUB_TOKEN=${github}\n"token":"${github}"\npassword: other\n`);
    const tags = text.match(mask) ?? [];
    expect(count).toBe(3);
    expect(tags[0]).toBe(tags[1]);
    expect(tags[2]).not.toBe(tags[0]);
    expect(redactor.redactText(text)).toEqual({ text, count: 0 });
    const other = new Redactor({ key: new Uint8Array(32) }).redactText(github).text;
    expect(other).toMatch(/^<redacted:[0-9a-f]{8}>$/);
    expect(other).not.toBe(tags[0]);
  });

  test('known values are masked everywhere, however plain', () => {
    const knowing = new Redactor({ key: new Uint8Array(1), known: ['correct horse', 'abc', 'a.c*e'] });
    knowing.learn('line one\nline two');
    const text = knowing.redactText('a correct horse, abc, a.c*e, axc, line two').text.replace(mask, '‹›');
    expect(text).toBe('a ‹›, abc, ‹›, axc, ‹›');
  });

  test('custom patterns: group, whole match, and bad ones reported', () => {
    const custom = ['ACME-(\\d{4})', 'zz\\w+', '(', 'x*', '(?<secret>q+)!'];
    const own = new Redactor({ key: new Uint8Array(1), custom });
    expect(own.redactText('ACME-1234 zzTop qq!').text.replace(mask, '‹›')).toBe('ACME-‹› ‹› ‹›!');
    expect(own.problems).toHaveLength(2);
    expect(own.problems.join()).toContain('"(" is not used');
  });

  test('a custom pattern that turns out slow is given up, not waited for again', () => {
    const slow = new Redactor({ key: new Uint8Array(1), custom: ['(a*)*b'] });
    const spent = cpuTimer();
    slow.redactText(`${'a'.repeat(4_000)}\n`.repeat(20));
    expect(spent()).toBeLessThan(2_000);
    expect(slow.problems.join()).toContain('no longer used');
  });

  test('a custom pattern whose time was up because others had the processor is tried again', () => {
    const held = new Redactor({ key: new Uint8Array(1), custom: ['ACME-\\d{4}'] });
    const run = vi.spyOn(Script.prototype, 'runInContext').mockImplementationOnce(() => {
      throw Object.assign(new Error('timed out'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
    });
    onTestFinished(() => run.mockRestore());
    expect(held.redactText('ACME-1234').text.replace(mask, '‹›')).toBe('‹›');
    expect(held.problems).toEqual([]);
  });
});

describe('hostile text takes linear time', () => {
  const size = 300_000;
  test.each([
    ['letters', 'a'],
    ['key words', 'password'],
    ['names without values', 'token '],
    ['open quotes', 'token="'],
    ['separators', 'key: '],
    ['jwt starts', 'eyJ'],
    ['dotted jwt starts', 'eyJaaaaaaaaaaaa.'],
    ['schemes', 'http://a:'],
    ['at signs', 'http://a:@@@@@'],
    ['base64', 'aB3/'],
    ['dashes', '-'],
    ['pem starts', '-----BEGIN PRIVATE KEY-----'],
    ['clients', 'mysql '],
    ['curls', 'curl -u a:'],
    ['headers', 'Authorization: Bearer '],
    ['cookies', 'Cookie: a='],
    ['git words', 'commit '],
    ['identifiers', 'a_b-c.'],
    ['spaces', ' '],
    ['blanks after a name', 'password                                    '],
    ['escapes', '\x1b[31m'],
    ['open strings', '\x1b]0;'],
    ['backspaces', 'a\b'],
    ['returns', 'a \r'],
    ['sk', 'sk-'],
    ['logins', 'login a password '],
  ])('%s', (_name, unit) => {
    const text = unit.repeat(Math.ceil(size / unit.length));
    expect(leastCpu(() => redactor.redactText(text), 1_000)).toBeLessThan(1_000);
  });
});
