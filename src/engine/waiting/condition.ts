import { FairleadError } from '../../contract/errors.ts';
import { compilePattern, type Pattern } from './pattern.ts';

/** What can be waited for. */
export type Condition =
  /** Text printed, or shown, since the wait's beginning. */
  | { readonly type: 'text'; readonly text: string }
  /** The same by a pattern in linear time; `^` and `$` match at lines. */
  | { readonly type: 'regex'; readonly pattern: string; readonly ignoreCase?: boolean }
  /** Text that is no longer on the screen. */
  | { readonly type: 'gone'; readonly text: string }
  /** No output for this long. */
  | { readonly type: 'quiet'; readonly ms: number }
  /** A prompt of a shell that was drawn after the newest input; in a terminal without a shell, of its program. */
  | { readonly type: 'prompt' }
  /** The end of the terminal's program. */
  | { readonly type: 'exit' }
  /** The end of a command that ran since the wait's beginning. */
  | { readonly type: 'command' }
  /** A program asks for what only a person can give. */
  | { readonly type: 'person' }
  /** A program asks something that any sender can answer. */
  | { readonly type: 'input' };

export interface Match {
  /** What matched, and the line it stands in. */
  readonly text: string;
  readonly line: string;
}

export type Matcher = (text: string) => Match | undefined;

const mostConditions = 20;

export function checkConditions(conditions: readonly Condition[]): void {
  if (conditions.length === 0 || conditions.length > mostConditions) {
    throw new FairleadError('invalid_input', `A wait has 1 to ${mostConditions} conditions, not ${conditions.length}.`);
  }
  for (const condition of conditions) {
    if ('text' in condition && condition.text === '') {
      throw new FairleadError('invalid_input', 'Every screen holds an empty text.', {
        hint: 'Name a text to wait for.',
      });
    }
  }
}

/** Finds a condition's text; undefined for conditions that are about something else. */
export function matcherOf(condition: Condition): Matcher | undefined {
  if (condition.type === 'text') {
    const { text } = condition;
    return (all) => found(all, all.indexOf(text), text);
  }
  if (condition.type !== 'regex') return undefined;
  const pattern: Pattern = compilePattern(condition.pattern, condition.ignoreCase === true ? 'im' : 'm');
  return (all) => {
    const match = pattern.exec(all);
    return match && found(all, match.index, match.text);
  };
}

function found(all: string, at: number, text: string): Match | undefined {
  if (at === -1) return undefined;
  const end = all.indexOf('\n', at + text.length);
  return { text, line: all.slice(all.lastIndexOf('\n', at - 1) + 1, end === -1 ? all.length : end) };
}
