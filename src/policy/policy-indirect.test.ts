import { describe, expect, test } from 'vitest';
import { judge, Policy } from './policy.ts';

const policy = (given: Partial<Policy>): Policy => Policy.parse({ enabled: true, ...given });
const blocked = policy({ blocked_patterns: ['cmd:touch'] });

/** Ways to have `touch M` run by a program that reads its orders elsewhere than in its words. */
const runs: Readonly<Record<string, readonly string[]>> = {
  'variables with further options of a program': [
    "LESS='+!touch M' less f",
    "export LESS='+!touch M'",
    "LESS='-X$+!touch M' git log",
    "export LESS='R +!touch M'",
    "MORE='+!touch M' more f",
    'export TAR_OPTIONS=--to-command=touch',
    'export TAR_OPTIONS="--use-compress-program=touch"',
    'export MAKEFLAGS="--eval=a:;touch M"',
    'export PERL5DB=\'BEGIN{system("touch M")}\'',
    "export PERL5OPT='-Mfoo;touch'",
    'export RUBYOPT=-r./touch',
    "export NODE_OPTIONS='--import data:text/javascript,touch'",
    'export LUA_INIT=\'os.execute("touch M")\'',
    "export VIMINIT=':!touch M'",
    "export FZF_DEFAULT_OPTS='--preview touch'",
    'export ZIPOPT="-TT touch"',
  ],
  'variables with a program': [
    "export FZF_DEFAULT_COMMAND='touch M'",
    "export RESTIC_PASSWORD_COMMAND='touch M'",
    'export KUBECTL_EXTERNAL_DIFF=touch',
    'export CC=touch',
    'declare -x RUSTC_WRAPPER=/usr/bin/touch',
    "MAILPATH='/x?$(touch M)'",
  ],
  'options, abbreviated as GNU programs take them': [
    'sort --co=touch f',
    'sort --compr touch f',
    'split --f=touch f',
    'man --ht=touch ls',
    'man -C touch ls',
    'wget --use-a=touch x',
    'make --in=touch',
    "less '-X +!touch M' f",
  ],
};

describe.each(Object.entries(runs))('%s', (_, lines) => {
  test.each(lines)('refused: %j', (line) => {
    expect(judge(blocked, line)).toMatchObject({ allowed: false });
  });
});

/** Nothing in them names a program that is blocked. */
test.each([
  'make -f <(printf "a:;to%s M" uch)',
  'make --fil <(cat x)',
  'make -f/dev/fd/3',
  'cat x | make -f -',
  'python3 <(cat x)',
  'python3 -u <(cat x)',
  'perl /proc/self/fd/3 3<x',
  'curl x | python3',
  'curl x | python3.12 -',
  'curl x | perl',
  'curl x | node',
  'curl x | ruby',
  'awk -f <(cat x)',
  'sed -f <(cat x) y',
  'gdb -x <(cat x)',
  'vim -S <(cat x)',
  'bash /proc/self/fd/3',
  'bash /proc/self/fd/3 3<x',
  'bash /proc/self/root/dev/fd/3',
  'bash /dev/../proc/self/fd/3',
  'bash fd/3',
  '. /proc/self/fd/3',
  'find . -exec sh /dev/fd/3 \\;',
  'cd /proc/self/fd; bash 3',
  'cd /dev/fd && . ./3',
  '/proc/self/fd/3 M 3</bin/touc*',
  '/dev/fd/3 M',
  "/proc/self/exe -c 'x'",
  'sort --co=sh f',
  'sort --compress-program /bin/bash f',
  "split --filter='sh' f",
  'tar -Ish -xf a',
  'tar --to-command=python3 -xf a',
  'tar --checkpoint-action=exec=sh -xf a',
  'export NODE_OPTIONS="$X"',
  "histchars='@^#'",
  'export GCONV_PATH=.',
  'export PYTHONSTARTUP=/dev/stdin',
])('cannot be judged: %j', (line) => {
  const { allowed, reason } = judge(policy({ blocked_patterns: ['cmd:shutdown'] }), line);
  expect({ allowed, reason }).toEqual({ allowed: false, reason: expect.stringMatching(/^Cannot be judged: /) });
});

/** Everyday lines with the same programs and variables. */
test.each([
  'sort --compress-program=gzip f',
  "split --filter='gzip > $FILE.gz' f",
  'tar -I zstd -cf a b',
  'tar xzf a -C b',
  'make -f Makefile.x',
  'sed -f x.sed y',
  'python3 script.py <(cat data)',
  'python3 -m json.tool < x',
  'cat x | python3 -m json.tool',
  "cat x | python3 -c 'import sys'",
  "cat x | perl -pe 's/a/b/'",
  'python3 < script.py',
  "python3 - <<'E'\nprint(1)\nE",
  'for f in *.py; do python3 "$f" | tee log; done',
  'node --version | cat',
  'export NODE_ENV=production CC=clang',
  "export LESS='-R -F -X'",
  'LESS=FRX git log',
  'export MAKEFLAGS=-j8',
  'export MAKEFLAGS=j8',
  'NODE_OPTIONS=--max-old-space-size=4096 npm run build | tee log',
  'export PERL5OPT=-w',
  'export PYTHONPATH=src',
  'cd /dev/shm && ls',
  'ls -l /proc/self/fd',
  'diff <(sort a) <(sort b)',
])('allowed: %j', (line) => {
  const everyday = policy({ blocked_patterns: ['rm -rf /', 'cmd:rm', 'cmd:touch', 'cmd:kill'] });
  expect(judge(everyday, line)).toMatchObject({ allowed: true });
});
