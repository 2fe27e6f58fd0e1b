import { type JSONRPCMessage, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { type FairleadError, isBracketed } from '../../../contract/errors.ts';
import { visible } from '../../../contract/quote.ts';
import { remoteCode, remoteErrors } from '../../../contract/remote-errors.ts';

/** The `data` of errors that say: there is no such resource. */
const missing = new WeakSet<object>();

const longestUri = 200;

/** An error of a method for resources: its number for the protocol, and in `data` the code and what to do next. */
export function resourceError(error: FairleadError, uri?: string): ProtocolError {
  if (isBracketed(error.code)) return new ProtocolError(numberOf(error), error.message, error.data);
  const code = remoteCode(error);
  const { category, cure } = remoteErrors[code];
  const { reason, context, closest } = error.data ?? {};
  const data = {
    code,
    ...(reason !== undefined && { reason }),
    hint: error.hint ?? `${cure}.`,
    ...(context !== undefined && { detail: context }),
    ...(closest !== undefined && { closest }),
  };
  const { message } = error;
  if (category !== 'RESOURCE') return new ProtocolError(numberOf(error), message, data);
  const about = { ...(uri !== undefined && { uri: visible(uri.slice(0, longestUri)) }), ...data };
  missing.add(about);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message, about);
}

const numberOf = ({ code }: FairleadError): number =>
  code === 'invalid_input' ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError;

/**
 * For a 2025 client. The library numbers a missing resource as 2026-07-28 does, whatever a handler throws; before it was −32002. A client
 * of that library throws away the rest of `data` where it finds the old number with a `uri`.
 */
export function withOldNumber(message: JSONRPCMessage): JSONRPCMessage {
  if (!('error' in message)) return message;
  const { data } = message.error;
  if (typeof data !== 'object' || data === null || !missing.has(data)) return message;
  const { uri: _uri, ...rest } = data as Record<string, unknown>;
  return { ...message, error: { ...message.error, code: ProtocolErrorCode.ResourceNotFound, data: rest } };
}
