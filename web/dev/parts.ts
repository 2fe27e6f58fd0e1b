import { Player } from '../src/lib/player/player.svelte.ts';
import { TerminalPage } from '../src/lib/terminal/page.svelte.ts';
import { outlineOf } from './live.ts';
import { pageIds } from './stories.ts';
import type { Text } from './texts.ts';

/** What happened to the page of a terminal, by its id. */
const happened: Readonly<Record<string, (page: TerminalPage, text: Text) => void>> = {
  mine(page, text) {
    page.keyboard.agent = text('Claude Code');
    void page.keyboard.take();
  },
  slow(page) {
    page.input.onTheWay = 14;
    page.input.lagMs = 2100;
  },
  unsent(page, text) {
    const words = text('ls').slice(0, 60);
    page.lost = {
      why: 'The keyboard was handed back.',
      unsent: `“${JSON.stringify(words).slice(0, 60)}” was not sent.`,
    };
  },
  refused(page, text) {
    page.failure = text('The terminal could not be opened.');
  },
  skipped(page) {
    page.skipped = 2_100_000;
  },
  fault(page, text) {
    page.keyboard.fault = text('The server is busy.');
  },
  waits(page) {
    void page.keyboard.take('command_ends');
  },
};

export const terminalPages = (text: Text): TerminalPage[] =>
  pageIds.map((id) => {
    const page = new TerminalPage(id);
    happened[id]?.(page, text);
    return page;
  });

/** Players that stand in a state which else only time brings. */
export const players = (text: Text): { readonly name: string; readonly player: Player }[] =>
  (['ready', 'playing', 'ended'] as const).map((state) => {
    const outline = outlineOf('finished', text);
    const ask = () => Promise.reject(new Error('A story has no server.'));
    const player = new Player({ recording: state, ask, follow: () => () => {}, now: () => 0, frame: () => () => {} });
    Object.assign(player, { state, outline, end: 60, t: state === 'ended' ? 60 : 20 });
    return { name: state, player };
  });
