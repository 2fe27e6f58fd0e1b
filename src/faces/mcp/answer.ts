import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { type FairleadError, isBracketed } from '../../contract/errors.ts';
import type { AnyOperation, Book, Content } from '../../engine/call/operation.ts';

/** An operation's output as a tool result. Pictures go alone: a client that got facts too would show those instead. */
export function success(op: AnyOperation, output: unknown): CallToolResult {
  const rendered = op.render(output);
  const content = typeof rendered === 'string' ? [text(rendered)] : rendered.map(block);
  if (content.some(({ type }) => type === 'image')) return { content };
  return { content, structuredContent: output as Record<string, unknown> };
}

/** A failed call, in the words of its book and with the facts beside them. */
export function failure(book: Book, tool: string, error: FairleadError, op?: AnyOperation): CallToolResult {
  if (isBracketed(error.code)) return bracketed(book, tool, error, op);
  const words = book.renderError(error, tool);
  if (book.errorFacts) return failed(words, book.errorFacts(error, tool));
  const { code, message, hint, data } = error;
  return refusedCall(words, { ...data, code, message, ...(hint !== undefined && { hint }) });
}

/** The words are the same in every book. The facts of the reference stand at the top, unless the tool's own schema forbids them there. */
function bracketed(book: Book, tool: string, error: FairleadError, op: AnyOperation | undefined): CallToolResult {
  const { code, message, data = {} } = error;
  const own: Readonly<Record<string, z.ZodType>> = op?.output instanceof z.ZodObject ? op.output.shape : {};
  const fitting = Object.entries(data).filter(([name, value]) => own[name]?.safeParse(value).success !== false);
  const facts = book.errorFacts?.(error, tool) ?? { error: { ...data, code, message } };
  return failed(message, { ...facts, ...Object.fromEntries(fitting) });
}

/** Adds notices after the operation's own text, and to its facts. */
export function withNotices(result: CallToolResult, notices: readonly string[]): CallToolResult {
  if (notices.length === 0) return result;
  const { content, structuredContent } = result;
  return {
    ...result,
    content: [...content, ...notices.map((notice) => text(`Note: ${notice}`))],
    ...(structuredContent !== undefined && { structuredContent: { ...structuredContent, notices } }),
  };
}

/** A call that was answered before any operation ran. */
export function refusedCall(words: string, facts: Readonly<Record<string, unknown>>): CallToolResult {
  return failed(words, { error: facts });
}

function failed(words: string, structuredContent: Readonly<Record<string, unknown>>): CallToolResult {
  return { isError: true, content: [text(words)], structuredContent };
}

function block(piece: Content): ContentBlock {
  if (piece.type === 'text') return text(piece.text);
  const { buffer, byteOffset, byteLength } = piece.bytes;
  return {
    type: 'image',
    data: Buffer.from(buffer, byteOffset, byteLength).toString('base64'),
    mimeType: piece.mimeType,
  };
}

const text = (words: string): ContentBlock & { type: 'text' } => ({ type: 'text', text: words });
