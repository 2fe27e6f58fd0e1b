/** A line with a secret in it. */
export interface Leak {
  readonly line: string;
  readonly secret: string;
}

// Built from halves, so that scanners of this repository do not take the examples for leaks.
const j = (...parts: string[]): string => parts.join('');
const leak = (before: string, secret: string, after = ''): Leak => ({ line: `${before}${secret}${after}`, secret });

const github = j('ghp', '_16C7e42F292c6912E7710c838347Ae178B4a');
const jwt = j('eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0', '.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U');
const awsSecret = j('wJalrXUtnFEMI', '/K7MDENG/bPxRfiCYEXAMPLEKEY');
const hex40 = '3b18e512dba79e4c8300dd08aeb37f8e728b8dad';
const hex64 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

/** What each row of the requirements says must be masked, and what was once missed. */
export const leaks: Readonly<Record<string, readonly Leak[]>> = {
  'R-RPC-080': [
    leak('GITHUB_TOKEN=', 'abc123def456'),
    leak('export API_KEY="', 'a b c d e f', '" && ls'),
    leak('aws_secret_access_key = ', awsSecret),
    leak('{"user":"me","token":"', 'Zx81kQ0pLmn4T', '","n":1}'),
    leak('{\\"token\\":\\"', 'Zx81kQ0pLmn4T', '\\"}'),
    leak('password: ', 'two plain words'),
    leak('password: "', 'two quoted words', '" # note'),
    leak('mytool --password ', 'hunter2hunter2', ' --user y'),
    leak("mysql -uroot -p'", 'x y z w v u', "' db"),
    leak('sshpass -p ', 'hunter2hunter2', ' ssh host'),
    leak('DB_PASS=', 'größe日本語密码', ' ./run'),
    leak('curl -u me:', 'hunter2hunter2', ' https://x'),
  ],
  'R-RPC-081': [
    leak('a ', github, ' b'),
    leak('id ', j('github', '_pat_11ABCDEFG0aBcDeFgHiJkL_mNoPqRsTuVwXyZ0123456789')),
    leak('', j('glpat', '-xyzABC123_defGHI456j'), '.'),
    leak('use ', j('xoxb', '-1234567890-abcdefghijkl')),
    leak('', j('sk', '-proj-abc123DEF456ghi789')),
    leak('', j('sk', '-ant-api03-abcDEF123456')),
    leak('short ', j('sk', '-abcd1234')),
    leak('', j('AKIA', 'IOSFODNN7EXAMPLE'), ' '),
    leak('', j('ASIA', 'IOSFODNN7EXAMPLE'), ' '),
    leak('key is ', j('AIza', 'SyA1234567890abcdefghijklmnopqrstuv')),
    leak('', j('npm', '_abcdefghijklmnopqrstuvwxyz0123456789')),
    leak('', jwt),
    leak('Authorization: Bearer ', 'abc.def-123'),
    leak('authorization: Basic ', 'dXNlcjpwYXNz'),
    leak('curl -H "Authorization: Bearer ', jwt, '" https://x'),
    leak('Cookie: ', 'sid=abc123; theme=dark'),
    leak('Set-Cookie: sid=', 'abc123def', '; Path=/'),
  ],
  'R-RPC-082': [
    leak('git clone https://user:', 'hunter2hunter2', '@host/path?x=1'),
    leak('postgres://me:', 'p@ssw0rd!', '@db:5432/x'),
  ],
  'R-RPC-083': [
    leak('', awsSecret),
    leak('', 'k3j4h5g6f7d8s9a0q1w2e3r4t5y6u7i8o9p0z1x2'),
    leak('value ', hex64, ' end'),
    leak('', 'dGhpcyBpcyBhIHNlY3JldCB2YWx1ZSBvZiBzb21lIGxlbmd0aCE='),
  ],
};

/** What must be left as it is, by the same rows. */
export const harmless: Readonly<Record<string, readonly string[]>> = {
  'R-RPC-080': [
    'primary key: id',
    'primary key: customer_identifier',
    'key: value',
    '  - key: name',
    'tokens: 512',
    'max_tokens=4096',
    'monkey: bananas12',
    '[sudo] password for me: ',
    'PWD=/home/me/project-1',
    'ssh -p 2222 host',
    '12 tests passed, 0 failed; passing=12',
    'the author signed the commit with a key',
  ],
  'R-RPC-081': ['task-12345678', 'risk-averse-person', 'npm_config_registry', 'sk-learn-like'],
  'R-RPC-082': ['https://host:8080/a@b', 'git@github.com:org/repo.git', 'https://user@host/'],
  'R-RPC-083': [
    '/usr/local/lib/node_modules/npm/node_modules/some-package2/dist/Index3',
    'src/engine/recording/cast-writer/some-long-folder/Another2/index.test.ts',
    `/var/lib/docker/overlay2/${hex64}/merged`,
    `commit ${hex40}`,
    `commit ${hex40} (HEAD -> main, origin/main)`,
    `index ${hex40}..${hex40} 100644`,
    `Merge: ${hex40} ${hex40}`,
    `${hex64}  some-file.tar.gz`,
    `SHA256 (file.iso) = ${hex64}`,
    '----------------------------------------------------------------',
    '================================================',
    '123e4567-e89b-12d3-a456-426614174000',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG3k5x0Yb7Rr6Zr0cQmVd8nJ2y1Hf4Lk9Tt5Ww8Xx3Zz me@host',
  ],
};
