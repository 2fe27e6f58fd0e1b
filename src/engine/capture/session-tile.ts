import type { Terminal } from '../terminal/terminal.ts';
import { plainText } from '../../lib/plain-text.ts';
import type { Tile } from './contact-sheet.ts';

/** What a session shows now, as text and as a tile. Call it after `terminal.sync()`. */
export function lookAt(terminal: Terminal, mostCharacters: number): { tile: Tile; text: string; isCut: boolean } {
  const { screen } = terminal;
  const { cursor, viewportTop, alternate } = screen.facts;
  const { cols, rows: all } = screen.size;
  const lines = screen.rowTexts(viewportTop, all).map(({ text }) => plainText(text, { separator: ' ' }).text.trimEnd());
  while (lines.at(-1) === '') lines.pop();
  const text = lines.join('\n');
  // A full-screen program may colour rows without text.
  const rows = alternate ? all : Math.min(all, Math.max(lines.length, cursor.y + 1));
  const tile: Tile = {
    title: `${terminal.identity.number}  ${titleOf(terminal)}`,
    facts: `${cols}×${all} ${stateOf(terminal)}`,
    cols,
    rows,
    fromEnd: !alternate,
    grid: (from, count) => {
      const grid = screen.grid({ from: viewportTop + from, rows: count });
      // The cursor of a program that has ended goes nowhere.
      return terminal.ended ? { ...grid, cursor: { ...grid.cursor, visible: false } } : grid;
    },
  };
  const isCut = text.length > mostCharacters;
  return { tile, text: isCut ? cutAt(text, mostCharacters) : text, isCut };
}

export const titleOf = ({ state, identity: { name } }: Terminal): string =>
  name === undefined ? state.title.current : `${name}: ${state.title.current}`;

function stateOf({ state, ended }: Terminal): string {
  if (ended?.by === 'exit') return `exited ${ended.code}`;
  if (ended?.by === 'signal') return `ended by ${ended.signal}`;
  return state.current.replaceAll('_', ' ');
}

/** Not between the halves of a character. */
export const cutAt = (text: string, most: number): string =>
  text.slice(0, (text.charCodeAt(most - 1) & 0xfc00) === 0xd800 ? most - 1 : most);
