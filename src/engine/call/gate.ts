import { FairleadError } from '../../contract/errors.ts';
import type { Caller } from './call.ts';
import type { Access } from './operation.ts';
import type { JudgeTyped } from '../input/typed-line.ts';

/** What a stage of the gate is asked: may this caller do exactly this? */
interface Question {
  readonly operation: string;
  readonly access: Access;
  readonly input: unknown;
  /** Command lines a shell would run if it is allowed. */
  readonly commands: readonly string[];
  readonly caller: Caller;
}

export type GateVerdict = { readonly allowed: true } | { readonly allowed: false; readonly error: FairleadError };

export type Stage = (question: Question, signal: AbortSignal) => GateVerdict | Promise<GateVerdict>;

/** Asked in this order; the first refusal ends the call. */
const stageOrder = ['scope', 'approval', 'policy', 'guard'] as const;
type StageName = (typeof stageOrder)[number];

export interface Gate extends Readonly<Record<StageName, Stage>> {
  /** Judges each line before it is entered at a keyboard, whichever calls typed it; undefined: no judge at present. */
  readonly typed: () => JudgeTyped | undefined;
}

const allow: GateVerdict = { allowed: true };

export const scope: Stage = ({ caller, access }) =>
  caller.may(access)
    ? allow
    : {
        allowed: false,
        error: new FairleadError('not_permitted', `${caller.name} may not ${verbs[access]}.`, {
          hint: 'Ask the person who runs this server for a connection that may.',
        }),
      };

const verbs: Readonly<Record<Access, string>> = {
  observe: 'look at terminals',
  control: 'type into or change terminals',
  open: 'open terminals',
  administer: 'change how this server works',
};

/** Scope is always checked. The other stages allow everything until a service replaces them. */
export const openGate: Gate = {
  scope,
  approval: () => allow,
  policy: () => allow,
  guard: () => allow,
  typed: () => undefined,
};

/** Fails closed: a stage that breaks refuses. */
export async function pass(gate: Gate, question: Question, signal: AbortSignal): Promise<void> {
  for (const name of stageOrder) {
    let verdict: GateVerdict;
    try {
      verdict = await gate[name](question, signal);
    } catch (cause) {
      throw new FairleadError('not_permitted', `The ${name} check could not be made, so the call was refused.`, {
        cause,
      });
    }
    if (!verdict.allowed) throw verdict.error;
  }
}
