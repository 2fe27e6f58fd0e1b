import type { Terminal } from '@xterm/xterm';

/**
 * The server answers what programs ask their terminal, once for all who look. A page that answered, too, would type: looking must not. So
 * its emulator does not see these questions: device attributes, status and mode reports, window operations, colours, settings.
 */
export function answerNothing(xterm: Terminal): void {
  const { parser } = xterm;
  const swallow = (): boolean => true;
  for (const prefix of ['', '>', '=']) parser.registerCsiHandler({ ...(prefix && { prefix }), final: 'c' }, swallow);
  for (const prefix of ['', '?']) {
    parser.registerCsiHandler({ ...(prefix && { prefix }), final: 'n' }, swallow);
    parser.registerCsiHandler({ ...(prefix && { prefix }), intermediates: '$', final: 'p' }, swallow);
  }
  parser.registerCsiHandler({ final: 't' }, swallow);
  parser.registerCsiHandler({ prefix: '>', final: 'q' }, swallow);
  parser.registerCsiHandler({ prefix: '?', final: 'u' }, swallow);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, swallow);
  for (const ident of [4, 10, 11, 12]) parser.registerOscHandler(ident, (data) => data.includes('?'));
}

/** The emulator reports the mouse or the focus: no key was pressed. */
export const isReport = (keys: string): boolean => /^\x1b\[(?:[IO]$|M|<)/.test(keys);
