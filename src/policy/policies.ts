import { join } from 'node:path';
import { FairleadError } from '../contract/errors.ts';
import type { Clock } from '../lib/clock.ts';
import type { Gate, Stage } from '../engine/call/gate.ts';
import { serviceKey } from '../engine/call/service.ts';
import { StateFile, type WatchedFile } from '../system/files/state-file.ts';
import type { JudgeTyped } from '../engine/input/typed-line.ts';
import { checkPolicy, judge, Policy, type PolicyVerdict } from './policy.ts';

interface PoliciesOptions {
  readonly root: string;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** An invalid pattern makes the whole file malformed. */
const UsablePolicy = Policy.refine((policy) => {
  try {
    checkPolicy(policy);
    return true;
  } catch {
    return false;
  }
});

/** The policy of a malformed file that was never read successfully. */
const closed: Policy = { enabled: true, blocked_patterns: [], allowed_patterns: [], scope: ['exec', 'input'] };
const unusable: PolicyVerdict = {
  allowed: false,
  reason: 'policy.json cannot be understood, so nothing may be run until it can',
};

/** The policy of this state root: a file that people may edit and callers may tighten. */
export class Policies implements AsyncDisposable {
  readonly #file: StateFile<typeof UsablePolicy>;

  constructor({ root, clock, warn }: PoliciesOptions) {
    this.#file = new StateFile({ path: join(root, 'policy.json'), schema: UsablePolicy, clock, warn, keepsGood: true });
  }

  get file(): WatchedFile {
    return this.#file;
  }

  /** What is wrong with the file, and where; undefined if nothing is. */
  get problem(): string | undefined {
    return this.#file.complaint;
  }

  get(): Policy {
    return this.#file.unusable ? closed : this.#file.get();
  }

  /** Refuses invalid patterns, and a looser policy from callers that may not administer. */
  set(next: Policy, options: { readonly mayLoosen: boolean }): void {
    checkPolicy(next);
    if (!options.mayLoosen && (this.#file.unusable || !tightens(this.get(), next))) {
      throw new FairleadError('not_permitted', 'This caller may only tighten the policy', {
        hint: 'Add blocked patterns or take allowed ones away; the person who runs the server can do the rest.',
      });
    }
    this.#file.set(next);
  }

  check(line: string): PolicyVerdict {
    return this.#file.unusable ? unusable : judge(this.get(), line);
  }

  /** Judges a call that would run commands. */
  readonly #stage: Stage = ({ commands }) => {
    for (const line of commands) {
      const verdict = this.check(line);
      if (!verdict.allowed) return { allowed: false, error: blocked(verdict) };
    }
    return { allowed: true };
  };

  /** Judges a line about to be entered at the keyboard; undefined if the line is unknown. */
  readonly #judgeTyped: JudgeTyped = (line) => {
    const { blocked_patterns, allowed_patterns } = this.get();
    const unknowable = line === undefined && blocked_patterns.length + allowed_patterns.length > 0;
    if (unknowable) return changed();
    const verdict = this.check(line ?? '');
    return verdict.allowed ? undefined : blocked(verdict);
  };

  /** The policy's stage of the gate. */
  get gate(): Pick<Gate, 'policy' | 'typed'> {
    const judgesInput = (): boolean => {
      const { enabled, scope } = this.get();
      return enabled && scope.includes('input');
    };
    return { policy: this.#stage, typed: () => (judgesInput() ? this.#judgeTyped : undefined) };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export const policies = serviceKey<Policies>('policy');

function blocked({ pattern, reason, list }: PolicyVerdict): FairleadError {
  const certain = pattern !== undefined && reason.startsWith('Blocked');
  return new FairleadError('not_permitted', `Command blocked by policy: ${certain ? pattern : reason}`, {
    hint: 'Run something else, or ask the person to change the policy; policy.check tells what would be allowed.',
    data: { rpcCode: 'BLOCKED_BY_POLICY', reason, ...(list === undefined ? {} : { list }) },
  });
}

function changed(): FairleadError {
  const reason = 'Cannot be judged: what stands at the prompt was begun by another call, or changed with keys';
  return new FairleadError('not_permitted', `Command blocked by policy: ${reason}`, {
    hint: 'Press Ctrl+C to drop the line, then send all of it and Enter, without Tab, arrows or other keys that change it.',
    data: { rpcCode: 'BLOCKED_BY_POLICY', reason },
  });
}

function tightens(before: Policy, next: Policy): boolean {
  if (!before.enabled) return true;
  const has = (list: readonly string[], one: string): boolean => list.includes(one);
  return (
    next.enabled &&
    before.blocked_patterns.every((one) => has(next.blocked_patterns, one)) &&
    before.scope.every((one) => next.scope.includes(one)) &&
    (before.allowed_patterns.length === 0 ||
      (next.allowed_patterns.length > 0 && next.allowed_patterns.every((one) => has(before.allowed_patterns, one))))
  );
}
