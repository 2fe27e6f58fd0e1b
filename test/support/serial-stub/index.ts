import { z } from 'zod';
import { FairleadError } from '../../../src/contract/errors.ts';
import type { Transport } from '../../../src/engine/terminal/transport.ts';
import { SerialPort } from './port.ts';

const Options = z.strictObject({ baud: z.int().min(50).max(4_000_000).default(115_200) });

/** What a transport for serial lines needs of Fairlead: one folder, and a place in the engine's list. */
export function serialStub(ports: readonly string[]): Transport {
  return {
    scheme: 'serial',
    open: async ({ target, options = {} }) => {
      const path = target.slice('serial:'.length);
      if (!ports.includes(path)) throw new FairleadError('invalid_input', `There is no port ${path}.`);
      const parsed = Options.safeParse(options);
      if (!parsed.success) throw new FairleadError('invalid_input', z.prettifyError(parsed.error));
      return { channel: new SerialPort(parsed.data.baud), program: path };
    },
    targets: async () => ({
      targets: ports.map((path) => ({ target: `serial:${path}`, summary: 'a serial port' })),
      shells: [],
    }),
  };
}
