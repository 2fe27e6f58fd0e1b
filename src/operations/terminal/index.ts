import { defineBook } from '../../engine/call/operation.ts';
import * as cast from './cast.ts';
import * as display from './display.ts';
import { renderTerminalError } from './errors.ts';
import * as keyboard from './keyboard.ts';
import * as shell from './shell.ts';

export const terminalBook = defineBook({
  name: 'terminal',
  summary: 'The ten tools of a terminal: type, keys, content, screenshots, recordings, sessions.',
  // Spelled out, because tools are listed in this order.
  schemes: ['terminal://'],
  nouns: {
    keyboard: { type: keyboard.type, press: keyboard.press },
    display: { content: display.content, screenshot: display.screenshot, clear: display.clear },
    cast: { start: cast.start, stop: cast.stop },
    shell: { create: shell.create, list: shell.list, destroy: shell.destroy },
  },
  renderError: renderTerminalError,
});
