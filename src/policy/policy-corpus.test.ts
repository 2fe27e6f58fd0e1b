import { describe, expect, test } from 'vitest';
import { judge, Policy } from './policy.ts';
import { leastCpu } from '../../test/support/clocks/cpu-timer.ts';

const policy = (given: Partial<Policy>): Policy => Policy.parse({ enabled: true, ...given });
const textually = policy({ blocked_patterns: ['rm -rf /'] });
const byProgram = policy({ blocked_patterns: ['cmd:rm'] });
const only = policy({ allowed_patterns: ['cmd:echo', 'cmd:cat', 'cmd:git'] });

/** Ways to run `rm -rf /` past a filter. Refused by its text, by its program, and where only others are allowed. */
const bypasses: Readonly<Record<string, readonly string[]>> = {
  'keys and older lines': [
    'echo a # x\rrm -rf /',
    'echo x\x15rm -rf /',
    'echo x\x0frm -rf /',
    'echo \x16\x03; rm -rf /',
    'echo a # b; rm -rf /',
  ],
  braces: [
    "{'rm',-rf,/}",
    'r{m..m} -rf /',
    '"r"{m,m} -rf /',
    'sudo {rm,-rf,/}',
    '/bin/r? -rf /',
    '/bin/r[m] -rf /',
    '/bin/r* -rf /',
    'sudo /bin/r? -rf /',
    'enable -f /bin/rm x; rm -rf /',
    '=rm -rf /',
  ],
  substitutions: [
    'echo $((echo a); (rm -rf /))',
    'echo $(((rm -rf /) ) )',
    'cat << $(echo E)\nx\n$(echo E)\nrm -rf /',
    "cat <<E\nx\\\nE\n'\nE\nrm -rf / # '",
    'bash <<E; true\nrm -rf /\nE',
    "x='$(rm -rf /)'; echo ${x@P}",
    'echo ${x:-<(rm -rf /)}',
    "test -v 'a[$(rm -rf /)]'",
    "declare 'a[$(rm -rf /)]=1'",
    '[[ -v a[$(rm -rf /)] ]]',
    "[[ -v 'a[$(rm -rf /)]' ]]",
    "echo $'rm\\0x'; $'rm\\0x' -rf /",
    "$'\\x{72}m' -rf /",
    '((rm -rf /))',
    '[[ a || rm -rf / ]]',
    '[[ 1 == 1 ]] { rm -rf / }',
    "PROMPT_COMMAND='rm -rf /'",
    "export PROMPT_COMMAND='rm -rf /'",
    "PS1='$(rm -rf /)'",
    "PS4='\\044(rm -rf /)' cat",
  ],
  wrappers: [
    "bash -c -- 'rm -rf /'",
    "bash -c -e 'rm -rf /'",
    "bash -e -o pipefail -c 'rm -rf /'",
    "bash -rcfile f -c 'rm -rf /'",
    "bash -o posix <<< 'rm -rf /'",
    'bash +o history <<EOF\nrm -rf /\nEOF',
    "bash /dev/stdin <<< 'rm -rf /'",
    "bash -s x <<< 'rm -rf /'",
    "bash /dev/fd/3 3<<< 'rm -rf /'",
    'bash <(echo rm -rf /)',
    "(bash) <<< 'rm -rf /'",
    'echo rm -rf / | { bash; }',
    'echo rm -rf / > >(bash)',
    "x=-c; bash $x 'rm -rf /'",
    'eval -- rm -rf /',
    "trap -- 'rm -rf /' EXIT",
    'source <(echo rm -rf /)',
    ". /dev/stdin <<< 'rm -rf /'",
    'echo rm -rf / | . /dev/stdin',
    'time -p rm -rf /',
    'time -f %e rm -rf /',
    'coproc X { rm -rf /; }',
    'coproc rm -rf /',
    'X[0]=1 rm -rf /',
    '{fd}>f rm -rf /',
    'env - rm -rf /',
    'env -iu X rm -rf /',
    "env -vS 'rm -rf /'",
    "env -u X -S 'rm -rf /'",
    "env --split-string='rm -rf /'",
    "env --split='rm -rf /'",
    'env --unset X rm -rf /',
    'timeout --signal KILL 5 rm -rf /',
    'timeout --sig KILL 5 rm -rf /',
    'timeout $T rm -rf /',
    'nice --adjustment 5 rm -rf /',
    'nice -5 rm -rf /',
    'stdbuf --output L rm -rf /',
    'chroot / rm -rf /',
    'flock f rm -rf /',
    "flock f -c 'rm -rf /'",
    'flock -w 5 f rm -rf /',
    'setpriv --reuid 1 rm -rf /',
    'taskset 1 rm -rf /',
    'taskset -c 0 rm -rf /',
    "script -c'rm -rf /' f",
    "script -qc 'rm -rf /' f",
    'script f rm -rf /',
    'sudo --user root rm -rf /',
    'sudo -Eu root rm -rf /',
    'sudo -uroot rm -rf /',
    "watch --interval 5 'rm -rf /'",
    'ssh -o ProxyCommand="rm -rf /" host',
    "git -c alias.x='!rm -rf /' x",
    "git -c core.pager='rm -rf /' log",
    "git config alias.x '!rm -rf /'",
    'git bisect run rm -rf /',
    "git submodule foreach 'rm -rf /'",
    'npx rm -rf / -c ls',
    'parallel rm -rf ::: /',
    'noglob rm -rf /',
    '/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /',
  ],
};

describe.each(Object.entries(bypasses))('%s', (_, lines) => {
  test.each(lines)('refused by its text: %j', (line) => {
    expect(judge(textually, line)).toMatchObject({ allowed: false });
  });
  test.each(lines)('refused by its program: %j', (line) => {
    expect(judge(byProgram, line)).toMatchObject({ allowed: false });
  });
  test.each(lines)('refused where only others are allowed: %j', (line) => {
    expect(judge(only, line)).toMatchObject({ allowed: false });
  });
});

/** Nothing in them says `rm -rf /`, not even when a shell is done with them. */
test.each([
  '{rm,-{r,}f} /',
  '{r,x}m -rf /',
  'hash -p /bin/rm ls; ls -rf /',
  'echo a # x\rrm F',
  "test -v 'a[$(rm x)]'",
])('refused by its program, and where only others are allowed: %j', (line) => {
  expect(judge(byProgram, line)).toMatchObject({ allowed: false });
  expect(judge(only, line)).toMatchObject({ allowed: false });
});

/** Without a word of what they do: what nobody can know is refused, whatever the policy. */
test.each([
  '!!',
  '!rm',
  '!-2',
  'echo "!rm"',
  '^echo^touch^',
  'true\n^echo^touch^',
  'x=$(cat f); $x',
  'bash $script',
  'source "$x"',
  'eval "$(ssh-agent)"',
  'sudo $options ls',
  'timeout --unknown 5 ls',
  'fc -s',
  'curl x.example | bash -s -- -y',
  'bind -x \'"\\C-x": ls\'',
  'ls *(e:x:)',
  '${(e)x}',
])('cannot be judged: %j', (line) => {
  const { allowed, reason } = judge(policy({ blocked_patterns: ['cmd:shutdown'] }), line);
  expect({ allowed, reason }).toEqual({ allowed: false, reason: expect.stringMatching(/^Cannot be judged: /) });
});

/** Everyday lines. Each must pass. */
const harmless: readonly string[] = [
  'git rm -rf $f',
  'command -v $x',
  'echo $(( 1 + (2*(3)) ))',
  'echo "a!"',
  '[ "$a" != "$b" ]',
  'ls *.ts',
  'make CFLAGS=-O2',
  'printf \'%s\' "${x:-y}"',
  'for i in {1..5}; do echo $i; done',
  'for i in {1..100000}; do echo $i; done',
  'for ((i = 0; i < 3; i++)); do echo "$i"; done',
  '((count++)) && echo $((count * 2))',
  'npm run build -- --watch',
  'npm ci && npm test',
  'npx tsc -p tsconfig.json --noEmit',
  'docker compose up -d --build && docker compose logs -f web',
  'docker exec -it web sh -c "ls -la /app"',
  'kubectl get pods -n "$NAMESPACE" -o jsonpath=\'{.items[*].metadata.name}\'',
  'git log --oneline --since="2 weeks ago" | head -20',
  'git commit -m "fix: it\'s done" && git push origin HEAD',
  'git -c user.name="A B" commit --amend --no-edit',
  "git stash list; git checkout -- src/'file name'.ts",
  "sed -i 's/foo[0-9]*/bar/g; s#a/b#c#' *.txt",
  "awk -F: '!seen[$1]++ { print $1, $NF }' /etc/passwd | sort -u",
  "awk '{ sum[$1] += $2 } END { for (k in sum) print k, sum[k] }' data.csv",
  "find . -type f -name '*.log' -mtime +7 -print0 | xargs -0 ls -l",
  "find . ! -name '*.md' -exec wc -l {} \\;",
  "ps aux | grep '[n]ode' | awk '{print $2}'",
  'curl -fsSL https://example.com/a.tar.gz | tar xz -C /tmp',
  'tar czf "backup-$(date +%F).tar.gz" src/ 2> /dev/null',
  'while read -r line; do echo "$line"; done < <(ls)',
  'cat file.txt | while IFS= read -r l; do echo "$l"; done',
  'files=($(ls)); echo "${#files[@]} files, first ${files[0]}"',
  'case "$1" in start|run) echo go ;; *.txt) echo text ;; *) echo no ;; esac',
  'case $x in (a) echo 1 ;; (b) echo 2 ;; esac',
  'if [[ $a == b* && -n $c || $d =~ ^(x|y)+$ ]]; then echo yes; fi',
  'if ! grep -q x file; then echo "not there"; fi',
  'export PATH="$HOME/bin:$PATH" NODE_ENV=production',
  "PS1='\\u@\\h:\\w\\$ '",
  'source ~/.bashrc && . "$NVM_DIR/nvm.sh"',
  'bash "$DIR/run.sh" --flag',
  'bash -euo pipefail script.sh',
  'sudo -u "$USER" env A=1 ls',
  'timeout 10 curl -s localhost:8080/health || echo down',
  'nohup node server.js > out.log 2>&1 &',
  'time make -j8',
  'python3 -c "print(1 + 1)"',
  "ssh -p 2222 host 'uptime; df -h'",
  "cat > f.js <<'EOF'\nif (!x) return `a${b}`;\nEOF",
  'echo "100%" && cd .. && ls [!a]*',
  'kill %1; wait $!',
  "jq '.a | map(select(.b != 1))' x.json > y.json",
  'mkdir -p a/{b,c}/d && touch a/{b,c}/d/{1..3}.txt',
  'diff <(sort a) <(sort b)',
  'f() { echo "$1"; }; f x',
  "ls # list them, don't touch",
  'test -f .env && set -a && . ./.env && set +a',
  "trap 'echo bye' EXIT",
  'bash',
  'cd /srv && sudo -i',
];

test.each(harmless)('allowed: %j', (line) => {
  expect(judge(policy({ blocked_patterns: ['rm -rf /', 'cmd:shutdown'] }), line)).toMatchObject({ allowed: true });
});

test('a line too long to be read is refused', () => {
  expect(judge(textually, 'a'.repeat(65_537)).reason).toBe('Cannot be judged: it is longer than 65536 characters');
  expect(judge(textually, 'a'.repeat(65_536)).allowed).toBe(true);
});

const nasty = [
  '$(',
  '(',
  '`',
  '${',
  '$((',
  '((',
  '{a,',
  '{a,b}',
  '"$(',
  "'a[",
  'a[$(',
  '<(',
  "${x:-<('",
  '\\',
  ';',
  '<<E\n',
];
nasty.push(
  'a ',
  '|',
  '\n',
  'case x in ',
  '[[ a && ',
  'sudo ',
  'eval ',
  "$'",
  '!',
  '[',
  'x=(',
  'a{',
  '}',
  ',',
  '{1..9}',
  '=',
  '"',
);

test.each(nasty)('64 KiB of %j are judged quickly', (piece) => {
  const line = piece.repeat(Math.floor(65_536 / piece.length));
  const work = (): void => {
    judge(policy({ blocked_patterns: ['rm -rf /', 'cmd:rm'], allowed_patterns: ['cmd:echo'] }), line);
    judge(policy({ blocked_patterns: ['rm -rf /'] }), `'${line.replaceAll("'", '')}'`);
  };
  expect(leastCpu(work, 200)).toBeLessThan(200);
});
