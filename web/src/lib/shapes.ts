import type { z } from 'zod';
import type { list as listTargets } from '../../../src/operations/core/targets.ts';
import type { ConversationItem } from '../../../src/operations/person/agent-shapes.ts';
import type { watch as watchCalls } from '../../../src/operations/person/calls.ts';
import type {
  list as listTrail,
  verify as verifyTrail,
  watch as watchTrail,
} from '../../../src/operations/person/trail.ts';
import type { list as listWorkspaces, restore } from '../../../src/operations/session/workspace.ts';
import type { check as checkHealth } from '../../../src/operations/person/health.ts';
import type { get as getPolicy } from '../../../src/operations/session/policy.ts';
import type { health as serverHealth, system as systemInfo } from '../../../src/operations/session/server.ts';
import type { status as proxyStatus } from '../../../src/operations/session/proxy.ts';
import type { list as listLogins } from '../../../src/operations/person/logins.ts';
import type { list as listClients } from '../../../src/operations/settings/clients.ts';
import type { current as currentLang } from '../../../src/operations/settings/lang.ts';
import type { state as serverState } from '../../../src/operations/settings/pages.ts';
import type { getRecording } from '../../../src/operations/settings/recording.ts';
import type { try as tryRules } from '../../../src/operations/settings/rules.ts';
import type { getCompat, getScrollback } from '../../../src/operations/settings/terminal.ts';
import type { list as listThemes } from '../../../src/operations/settings/theme.ts';
import type { watch as watchSettings } from '../../../src/operations/settings/watch.ts';
import type {
  blocks,
  followTerminal,
  history,
  scrollback,
  peeks,
  see,
  text,
  watch,
} from '../../../src/operations/person/index.ts';

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
export type FollowedEvent = NonNullable<Followed['events']>[number];
export type Typed = Extract<FollowedEvent, { event: 'typed' }>;
export type History = z.output<typeof history.output>;
export type OlderRows = z.output<typeof scrollback.output>;
export type Seen = z.output<typeof see.output>;
export type ReadText = z.output<typeof text.output>;
export type Blocks = z.output<typeof blocks.output>;
export type TerminalTheme = Extract<WatchNews, { kind: 'theme' }>['theme'];
export type CallNews = z.output<typeof watchCalls.item>;
export type ServerHealth = z.output<typeof serverHealth.output>;
export type SystemInfo = z.output<typeof systemInfo.output>;
export type ClientLines = z.output<typeof listClients.output>;
export type LoginShown = z.output<typeof listLogins.output>['logins'][number];
export type TargetList = z.output<typeof listTargets.output>;
export type HeldCall = ConversationItem['held'][number];

export type SettingsFile = z.output<typeof watchSettings.item>['files'][number];
export type ThemeList = z.output<typeof listThemes.output>;
export type Scrollback = z.output<typeof getScrollback.output>;
export type Compat = z.output<typeof getCompat.output>;
export type RecordingChoice = z.output<typeof getRecording.output>;
export type Rules = z.output<typeof getPolicy.output>;
export type RulesTried = z.output<typeof tryRules.output>;
export type Proxy = z.output<typeof proxyStatus.output>;
export type Language = z.output<typeof currentLang.output>;
export type ServerState = z.output<typeof serverState.output>;
export type TrailPage = z.output<typeof listTrail.output>;
export type TrailRow = TrailPage['records'][number];
export type TrailCheck = z.output<typeof verifyTrail.output>;
export type TrailNews = z.output<typeof watchTrail.item>;
export type WorkspaceListed = z.output<typeof listWorkspaces.output>['workspaces'][number];
export type Restored = z.output<typeof restore.output>;
export type HealthChecked = z.output<typeof checkHealth.output>;
