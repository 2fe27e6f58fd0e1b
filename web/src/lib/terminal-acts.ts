import { faultWords } from './fault.ts';
import { feed } from './feed.svelte.ts';
import { toasts } from './toasts.svelte.ts';
import { shown } from './visible.ts';

/** The conversation that works in a terminal and could be paused now. */
export function agentToPause(terminal: string): string | undefined {
  const { conversation } = feed.terminals.get(terminal) ?? {};
  const state = conversation === undefined ? undefined : feed.conversations.get(conversation)?.state;
  return feed.can('agents.pause') && state !== undefined && state !== 'paused' && state !== 'revoked'
    ? conversation
    : undefined;
}

/** Pauses the agent of a terminal, if there is one. What it asked for waits; a running command goes on. */
export async function pauseAgent(terminal: string): Promise<void> {
  const conversation = agentToPause(terminal);
  if (conversation === undefined) return;
  try {
    await feed.live?.call('agents.pause', { conversations: [conversation] });
    toasts.show({ words: `${shown(feed.conversations.get(conversation)?.agent ?? conversation, 32)} is paused.` });
  } catch (error) {
    toasts.show({ words: faultWords(error), isError: true });
  }
}

/** The line that shows a terminal, for a script with a token. */
export const asHttp = (terminal: string): string =>
  `curl -s -X POST ${location.origin}/api/person/see -H "Authorization: Bearer $FAIRLEAD_TOKEN" -H 'Content-Type: application/json' -d '{"session":"${terminal}"}'`;
