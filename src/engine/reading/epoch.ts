import { FairleadError } from '../../contract/errors.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Row numbers of another epoch mean other rows now. Call it after `terminal.sync()`. */
export function refuseOldRows({ screen }: Terminal, epoch: number | undefined): void {
  if (epoch === undefined || epoch === screen.epoch) return;
  throw new FairleadError('conflict', `Rows were renumbered: the epoch is ${screen.epoch} now`, {
    hint: 'The screen was cleared or reflowed; read it again.',
  });
}
