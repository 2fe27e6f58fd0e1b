import { partKey } from '../../engine/part.ts';
import type { SshSettings } from './settings.ts';

/** Everything over SSH that one engine has open. Operations find it with `engine.part(ssh)`. */
export class Ssh implements AsyncDisposable {
  readonly settings: SshSettings;

  constructor(settings: SshSettings) {
    this.settings = settings;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

export const ssh = partKey<Ssh>('SSH');
