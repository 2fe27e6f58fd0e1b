import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';

type ObjectSchema = Tool['inputSchema'];
type JsonSchema = z.core.JSONSchema.BaseSchema;

/** What a caller may send, as JSON Schema 2020-12. The dialect is MCP's default, so it goes unsaid. */
export function inputSchema(schema: z.ZodType, allDefaults = false): ObjectSchema {
  return objectRoot(convert(schema, 'input', allDefaults));
}

/**
 * What comes back. More may be there, and nothing at the root is required that an error does not have too, because a failed
 * call answers under the same schema, and clients on the 1.x SDK check that answer against it.
 */
export function outputSchema(schema: z.ZodType, inErrors: readonly string[] = []): ObjectSchema {
  const root = convert(schema, 'output');
  for (const choice of [root.anyOf, root.oneOf]) choice?.push({ required: ['error'] });
  if (root.anyOf !== undefined || root.oneOf !== undefined) root.type = 'object';
  const required = (root.required ?? []).filter((name) => inErrors.includes(name));
  if (required.length > 0) root.required = required;
  else delete root.required;
  delete root.additionalProperties;
  return objectRoot(root);
}

function convert(schema: z.ZodType, io: 'input' | 'output', allDefaults = false): JsonSchema {
  const override: typeof quieter = (part) => quieter(part, allDefaults);
  const { $schema: _dialect, ...root } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', override });
  return root as JsonSchema;
}

/**
 * Leaves out what helps no caller and costs tokens in every conversation: the bounds every integer has, lengths (an error
 * tells them when they matter), defaults that are the usual ones, and closedness no operation asked for.
 */
function quieter(
  { zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: JsonSchema },
  allDefaults = false,
): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  delete jsonSchema.minLength;
  delete jsonSchema.maxLength;
  if (jsonSchema.default === false && !allDefaults) delete jsonSchema.default;
  const { def } = zodSchema._zod;
  if (def.type === 'object' && def.catchall === undefined) delete jsonSchema.additionalProperties;
}

function objectRoot(root: JsonSchema): ObjectSchema {
  if (root.type !== 'object')
    throw new TypeError(`An MCP schema must be an object at its root, not ${JSON.stringify(root.type)}.`);
  return root as ObjectSchema;
}
