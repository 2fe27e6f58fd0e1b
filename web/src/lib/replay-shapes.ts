import type { z } from 'zod';
import type { list } from '../../../src/operations/person/replay/list.ts';
import type { blocks, search, showMasked } from '../../../src/operations/person/replay/outline.ts';
import type { followReplay, keys, range, seek } from '../../../src/operations/person/replay/play.ts';

/** The shapes of recordings, from the operations themselves. */
export type ReplayList = z.output<typeof list.output>;
export type ReplayListed = ReplayList['recordings'][number];
export type ReplayOutline = z.output<typeof blocks.output>;
export type ReplayBlock = ReplayOutline['blocks'][number];
export type ReplayKeys = z.output<typeof keys.output>;
export type ReplayRange = z.output<typeof range.output>;
export type ReplayedEvent = ReplayRange['events'][number];
export type SoughtScreen = z.output<typeof seek.output>;
export type FollowedReplay = z.output<typeof followReplay.item>;
export type ReplayHits = z.output<typeof search.output>;
export type MaskedLines = z.output<typeof showMasked.output>;
