import {
  type GetPromptResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { quote, visible } from '../../contract/quote.ts';
import type { Prompt } from '../../operations/prompt.ts';
import type { McpPrompt } from './surface.ts';

/** A prompt becomes one message from the person who picked it. */
export function foldPrompt(prompt: Prompt): McpPrompt {
  const { name, title, description } = prompt;
  return {
    definition: { name, title, description, arguments: prompt.arguments.map((argument) => ({ ...argument })) },
    get: (values) => ({
      description,
      messages: [{ role: 'user', content: { type: 'text', text: prompt.text(values) } }],
    }),
  };
}

export async function getPrompt(
  prompts: readonly McpPrompt[],
  name: string,
  values: Readonly<Record<string, string | undefined>>,
  context: ServerContext,
): Promise<GetPromptResult | InputRequiredResult> {
  const prompt = prompts.find(({ definition }) => definition.name === name);
  if (prompt === undefined) {
    const names = prompts.map(({ definition }) => definition.name).join(', ');
    // The reference fixes this number, not that of invalid params (docs/requirements/remote.md section 5).
    throw new ProtocolError(
      ProtocolErrorCode.InvalidRequest,
      `Unknown prompt: "${visible(quote(name))}". Available prompts: ${names}`,
    );
  }
  for (const argument of prompt.definition.arguments ?? []) {
    if (argument.required === true && values[argument.name] === undefined) {
      const message = `Prompt "${name}" needs the argument "${argument.name}": ${argument.description ?? ''}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
  }
  return prompt.get(values, context);
}
