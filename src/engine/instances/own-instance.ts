import { randomUUID } from 'node:crypto';
import { startOf } from '../../system/process-identity.ts';
import type { Instances } from './instances.ts';
import { architectureName, type InstanceRecord, platformName } from './record.ts';

/** This process among the instances of its state root. Its file goes when it is disposed of. */
export class OwnInstance implements Disposable {
  readonly #instances: Instances;
  #record: InstanceRecord;
  #announced = false;
  #released = false;

  private constructor(instances: Instances, record: InstanceRecord) {
    this.#instances = instances;
    this.#record = record;
  }

  /** Claims a name. Clients learn of it with `announce`, once the ports are open. */
  static claim(
    instances: Instances,
    about: { readonly version: string; readonly cwd: string; readonly token?: string | undefined },
    except: ReadonlySet<string> = new Set(),
  ): OwnInstance {
    const start = startOf(process.pid);
    return new OwnInstance(instances, {
      id: instances.claim(except),
      pid: process.pid,
      started_at: new Date().toISOString(),
      mcp_port: 0,
      http_port: 0,
      auth_token: about.token ?? randomUUID(),
      title: null,
      cwd: about.cwd,
      version: about.version,
      platform: platformName(),
      arch: architectureName(),
      ...(start === undefined ? {} : { pid_start: start }),
    });
  }

  get record(): InstanceRecord {
    return this.#record;
  }

  announce(ports: { readonly mcp_port: number; readonly http_port: number }): void {
    this.#record = { ...this.#record, ...ports };
    this.#announced = true;
    this.#instances.write(this.#record);
  }

  /** Updates the shared files at once; a change without effect is not written. */
  update(change: Partial<Pick<InstanceRecord, 'title' | 'cwd'>>): void {
    const next = { ...this.#record, ...change };
    if (next.title === this.#record.title && next.cwd === this.#record.cwd) return;
    this.#record = next;
    if (!this.#released) this.#instances.write(next);
  }

  /** Restores its files, whatever happened to them. */
  repair(): void {
    if (this.#announced && !this.#released) this.#instances.repair(this.#record);
  }

  [Symbol.dispose](): void {
    if (this.#released) return;
    this.#released = true;
    this.#instances.release(this.#record.id);
  }
}
