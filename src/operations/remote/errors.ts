import { type Retry, remoteCode, remoteErrors } from '../../contract/remote-errors.ts';
import type { FairleadError } from '../../contract/errors.ts';
import { oneLine } from './text.ts';

/** `TOOL: ERROR`, the code and reason, and what to do next. */
export function renderRemoteError(error: FairleadError, tool: string): string {
  const { code, reason, detail } = remoteErrorFacts(error, tool);
  return [`${tool.toUpperCase()}: ERROR`, `REASON: [${code}] ${oneLine(reason)}`, `DETAIL: ${oneLine(detail)}`].join(
    '\n',
  );
}

const again: readonly Retry[] = ['yes', 'cond', 'recover'];

/** The structured part of an error. `retryable`: trying again, perhaps after a change, can help. */
export function remoteErrorFacts(error: FairleadError, tool: string) {
  const code = remoteCode(error);
  const { category, retry, cure } = remoteErrors[code];
  const { context, closest, wire, ...rest } = error.data ?? {};
  const { incident } = rest;
  // An error from outside the table brings its own hint; an internal one, an incident number to report.
  const foreign = wire === undefined && incident === undefined;
  const parts = [
    foreign && error.hint !== undefined ? error.hint.replace(/\.$/, '') : cure,
    typeof incident === 'string' ? `incident=${incident}` : context,
    Array.isArray(closest) && closest.length > 0 && `closest matches: ${closest.join(', ')}`,
  ];
  return {
    ...rest,
    tool,
    status: 'error',
    code,
    reason: error.message,
    detail: parts.filter((part) => typeof part === 'string' && part !== '').join('; '),
    category,
    retryable: again.includes(retry) || (foreign && error.retry),
  };
}
