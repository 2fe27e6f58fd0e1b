import { ago, clock } from './format.ts';
import type { ConversationShown, HeldCall, PauseShown } from './shapes.ts';
import { shown } from './visible.ts';

/** What a conversation is doing, in words. */
export function conversationWord({ state, pause, revoked, connected, last }: ConversationShown, you: string): string {
  if (state === 'paused') return pause === undefined || pause.all ? 'Paused' : `Paused by ${byWhom(pause.by, you)}`;
  if (state === 'revoked') return revoked ? `Revoked ${clock(revoked.at)}` : 'Revoked';
  if (state !== 'approved') return `${state[0]?.toUpperCase()}${state.slice(1)}`;
  if (connected === false) return 'Gone';
  return connected === true || last === undefined ? 'Connected' : 'Seen';
}

export const byWhom = (by: string, you: string): string => (by === you || by === 'person' ? 'you' : shown(by, 32));

/** `Everything is paused by you at 14:06:12. 9 calls are held. 2 commands that were running go on.` */
export function pauseFacts({ held, running }: NonNullable<PauseShown>): string {
  const calls = held === 0 ? '' : `${held} ${held === 1 ? 'call is' : 'calls are'} held.`;
  const commands =
    running === 0
      ? ''
      : `${running} ${running === 1 ? 'command that was running goes' : 'commands that were running go'} on.`;
  return [calls, commands].filter((part) => part !== '').join(' ');
}

export const lastCall = ({ last }: ConversationShown, now: number): string =>
  last === undefined ? '–' : `${shown(last.op, 40)}, ${ago(now - last.at)}`;

/** When the oldest of the held calls goes, if nothing happens. */
export function heldNote(held: readonly HeldCall[]): string {
  const first = Math.min(...held.map(({ until }) => until));
  return held.length === 0
    ? ''
    : `Held ${held.length} of 50. The oldest is dropped at ${clock(first)} if nothing happens.`;
}
