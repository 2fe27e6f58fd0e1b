import { callStream } from '../../src/engine/call/call-stream.ts';
import { localPerson } from '../../src/engine/call/principal.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { followTerminal } from '../../src/operations/person/index.ts';

/** What a tile of a dashboard shows of one terminal, from one stream. */
export class Tile {
  state = '';
  title = '';
  bytes = '';

  async show(engine: Engine, session: string, signal: AbortSignal): Promise<void> {
    for await (const item of callStream(
      followTerminal,
      { session, from: 0 },
      { engine, caller: localPerson, signal },
    )) {
      this.state = item.state;
      this.title = item.title;
      this.bytes += Buffer.from(item.bytes, 'base64').toString();
    }
  }
}
