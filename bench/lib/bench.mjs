// What a row is handed: the product, the peers, floods, and an owner for everything it opens.
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Bell } from './bell.mjs';
import { compile } from './compile.mjs';
import { floodFile } from './floods.mjs';
import { Gate } from './gate.mjs';
import { Product } from './product.mjs';
import { Sshd } from './sshd.mjs';
import { Tmux } from './tmux.mjs';

export class Bench {
  #opened = [];

  constructor({ quick, folder, dist }) {
    this.quick = quick;
    this.folder = folder;
    this.dist = pathToFileURL(dist ?? fileURLToPath(new URL('../../dist', import.meta.url)));
  }

  /** How often each contender runs. */
  get rounds() {
    return this.quick ? 1 : 4;
  }

  /** One number for a real run, another for a smoke run. */
  pick(full, quick) {
    return this.quick ? quick : full;
  }

  /** Disposed at the end of the row, the newest first. */
  own(resource) {
    this.#opened.push(resource);
    return resource;
  }

  async close() {
    for (const resource of this.#opened.reverse()) await resource[Symbol.asyncDispose]();
    this.#opened = [];
  }

  /** A module of the build, by its path below src/ without extension. */
  load(path) {
    return import(`${this.dist.href}/${path}.js`);
  }

  async product() {
    return this.own(await Product.load(this));
  }

  async tmux() {
    return this.own(await Tmux.start(this.folder));
  }

  /** An OpenSSH server; `config` are lines of its sshd_config. */
  async sshd(config) {
    return this.own(await Sshd.start(this.folder, config));
  }

  gate() {
    return this.own(new Gate(this.folder));
  }

  bell() {
    return this.own(new Bell(this.folder));
  }

  /** The path of a compiled program from bench/c. */
  compiled(name) {
    return compile(name, this.folder);
  }

  flood(kind, megabytes) {
    return floodFile(kind, megabytes, this.folder);
  }

  path(name) {
    return join(this.folder, name);
  }
}
