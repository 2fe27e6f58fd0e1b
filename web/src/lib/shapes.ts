import type { z } from 'zod';
import type { ConversationItem } from '../../../src/operations/person/agent-shapes.ts';
import type { watch as watchCalls } from '../../../src/operations/person/calls.ts';
import type { blocks, followTerminal, peeks, see, watch } from '../../../src/operations/person/index.ts';

/** The shapes of what the server sends, from the operations themselves. */
export type WatchNews = z.output<typeof watch.item>;
export type TerminalShown = Extract<WatchNews, { kind: 'all' }>['terminals'][number];
export type {
  CallItem as CallShown,
  ConversationItem as ConversationShown,
} from '../../../src/operations/person/agent-shapes.ts';
export type PauseShown = Extract<WatchNews, { kind: 'pause' }>['pause'];
export type { WaitingItem } from '../../../src/operations/person/waiting.ts';
export type Peek = z.output<typeof peeks.item>;
export type Followed = z.output<typeof followTerminal.item>;
export type Seen = z.output<typeof see.output>;
export type Blocks = z.output<typeof blocks.output>;
export type TerminalTheme = Extract<WatchNews, { kind: 'theme' }>['theme'];
export type CallNews = z.output<typeof watchCalls.item>;
export type HeldCall = ConversationItem['held'][number];
