import { z } from 'zod';
import { FairleadError } from '../contract/errors.ts';
import { compilePattern } from '../engine/waiting/pattern.ts';
import { commandsOf, type EffectiveCommand } from './effective.ts';
import { isUsual } from './harmless.ts';
import { Runners } from './told.ts';
import { unknown } from './word.ts';

/** Which commands may be run. A pattern is a substring, `re:` and a pattern, or `cmd:` and a program. */
export const Policy = z.object({
  enabled: z.boolean().default(false),
  blocked_patterns: z.array(z.string().min(1).max(1000)).max(1000).default([]),
  allowed_patterns: z.array(z.string().min(1).max(1000)).max(1000).default([]),
  /** `input`: also what is typed line by line. */
  scope: z.array(z.enum(['exec', 'input'])).default(['exec']),
});
export type Policy = z.output<typeof Policy>;

export interface PolicyVerdict {
  readonly allowed: boolean;
  readonly reason: string;
  readonly pattern?: string;
  readonly list?: 'blocked' | 'allowed';
}

/** Throws if a pattern is invalid. */
export function checkPolicy(policy: Policy): void {
  for (const pattern of [...policy.blocked_patterns, ...policy.allowed_patterns]) {
    if (pattern.startsWith('re:')) compilePattern(pattern.slice(3), '');
    if (/^cmd:\s*$/.test(pattern)) throw new FairleadError('invalid_input', `Not a pattern: ${pattern}`);
  }
}

/** Longer than any line a person reads before allowing it. */
const longestLine = 65_536;
/** Control characters act as keys on a terminal; Tab, Enter and newline are allowed. */
// oxlint-disable-next-line no-control-regex
const controls = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const uncertain = (problem: string): PolicyVerdict => ({ allowed: false, reason: `Cannot be judged: ${problem}` });

/** Judges a command line. With a policy in place it fails closed: an uncertain line is refused. */
export function judge(policy: Policy, line: string): PolicyVerdict {
  if (!policy.enabled) return { allowed: true, reason: 'Policy disabled' };
  const judging = policy.blocked_patterns.length + policy.allowed_patterns.length > 0;
  if (line.length > longestLine) return uncertain(`it is longer than ${longestLine} characters`);
  if (judging && controls.test(line)) return uncertain('it holds control characters');
  const { commands, problems, places } = commandsOf(line);
  const texts = [line, collapse(line), collapse(unquoted(line)), ...commands.map(textOf)];
  for (const pattern of policy.blocked_patterns) {
    if (matches(pattern, texts, commands) || isNamed(pattern, commands)) {
      return { allowed: false, reason: `Blocked by pattern: ${pattern}`, pattern, list: 'blocked' };
    }
  }
  const [problem] = problems;
  if (judging && problem !== undefined) return uncertain(problem);
  for (const pattern of policy.blocked_patterns) {
    if (commands.some((command) => mayBecome(pattern, command))) {
      return { allowed: false, reason: `Cannot be judged: it may become ${pattern}`, pattern, list: 'blocked' };
    }
  }
  const runners = new Runners(unquoted(line), commands);
  for (const pattern of policy.blocked_patterns) {
    const by = pattern.startsWith('cmd:') ? runners.of(baseName(pattern.slice(4).trim())) : undefined;
    if (by !== undefined) return { allowed: false, reason: told(pattern, by), pattern, list: 'blocked' };
  }
  if (policy.allowed_patterns.length === 0) return { allowed: true, reason: 'Allowed' };
  const [place] = places;
  if (place !== undefined) return uncertain(`${place} may change what the allowed names mean; leave it out`);
  return allowList(policy.allowed_patterns, commands);
}

const told = (pattern: string, by: string): string =>
  `Cannot be judged: the program of ${pattern} is named to ${by}, which may run it; leave the name out, or quote it to a program that only prints`;

/** Every command of the line must be on the allow list. */
function allowList(patterns: readonly string[], commands: readonly EffectiveCommand[]): PolicyVerdict {
  const real = commands.filter(({ wrapper }) => !wrapper);
  let used: string | undefined;
  for (const command of real) {
    used = patterns.find((pattern) => matches(pattern, [textOf(command)], [command]) && isMeant(pattern, command));
    if (used === undefined) return { allowed: false, reason: 'Not in allow list', list: 'allowed' };
  }
  return {
    allowed: true,
    reason: 'Allowed',
    ...(used === undefined ? {} : { pattern: used, list: 'allowed' as const }),
  };
}

/** Some file systems ignore case. */
const isNamed = (pattern: string, commands: readonly EffectiveCommand[]): boolean =>
  pattern.startsWith('cmd:') &&
  commands.some(
    ({ words: [word] }) => baseName(word?.text ?? '').toLowerCase() === pattern.slice(4).trim().toLowerCase(),
  );

/** A program of the same name in a user's directory is another program, unless the pattern names its directory. */
function isMeant(pattern: string, { words: [word] }: EffectiveCommand): boolean {
  const program = word?.text ?? '';
  return !pattern.startsWith('cmd:') || program === pattern.slice(4).trim() || isUsual(program);
}

function matches(pattern: string, texts: readonly string[], commands: readonly EffectiveCommand[]): boolean {
  if (pattern.startsWith('cmd:')) {
    const program = pattern.slice(4).trim();
    return commands.some(({ words: [word] }) => word?.text === program || baseName(word?.text ?? '') === program);
  }
  if (pattern.startsWith('re:')) {
    const compiled = compilePattern(pattern.slice(3), '');
    return texts.some((text) => compiled.exec(text) !== undefined);
  }
  // A trailing blank in a pattern means the end of a word.
  const wanted = pattern.replaceAll(blanks, ' ');
  return texts.some((text) => text.includes(pattern) || `${text} `.includes(wanted));
}

/** Whether a value known only at run time could complete a blocked substring whose first word is in the line. */
function mayBecome(pattern: string, { words }: EffectiveCommand): boolean {
  if (pattern.startsWith('cmd:') || pattern.startsWith('re:')) return false;
  const parts = collapse(pattern).split(' ');
  const [first = '', ...rest] = parts;
  if (!words.some(({ dynamic }) => dynamic)) return false;
  return words.some(({ text }, at) => {
    // `git rm` is not the program rm.
    if (at > 0 && programs.has(first)) return false;
    if (!(rest.length === 0 ? text.includes(first) : text.endsWith(first))) return false;
    return rest.every((part, step) => fits(words[at + 1 + step]?.text, part));
  });
}

/** First words of patterns that name a program rather than an argument of another one. */
const programs = new Set(
  'rm mv cp dd mkfs chmod chown kill killall pkill shutdown reboot halt poweroff sudo su curl wget ssh scp git docker kubectl'.split(
    ' ',
  ),
);

/** A word with an unknown part may become anything its two ends allow. */
function fits(text: string | undefined, part: string): boolean {
  if (text === undefined) return false;
  if (!text.includes(unknown)) return text.startsWith(part);
  const [head = ''] = text.split(unknown, 1);
  return head.startsWith(part) || part.startsWith(head);
}

const blanks = /[\s\u0085\u200b\u2060\ufeff]+/g;
const collapse = (text: string): string => text.replaceAll(blanks, ' ').trim();
const unquoted = (text: string): string => text.replaceAll(/\\\n/g, '').replaceAll(/["'\\]/g, '');
const textOf = ({ words }: EffectiveCommand): string => collapse(words.map(({ text }) => text).join(' '));
/** Without invisible characters. */
const baseName = (path: string): string =>
  path.slice(path.lastIndexOf('/') + 1).replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '');
