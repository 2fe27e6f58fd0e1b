import { once } from 'node:events';

/** tmux in control mode: commands are lines, output of panes comes as `%output %pane text`. */
export class TmuxControl {
  /** Called with a pane's id and its new output, escaped as tmux does. */
  onOutput = () => {};
  #client;
  #pending = '';
  #answers = [];

  constructor(client) {
    this.#client = client;
    client.stdout.setEncoding('latin1');
    client.stdout.on('data', (data) => this.#take(data));
    // The attach itself is answered too.
    this.ready = new Promise((resolve) => this.#answers.push(resolve));
  }

  /** Sends a command; resolves when tmux has carried it out. */
  command(line) {
    this.#client.stdin.write(`${line}\n`);
    return new Promise((resolve) => this.#answers.push(resolve));
  }

  async [Symbol.asyncDispose]() {
    const closed = once(this.#client, 'close');
    this.#client.stdin.end();
    await closed;
  }

  #take(data) {
    const lines = (this.#pending + data).split('\n');
    this.#pending = lines.pop();
    for (const line of lines) {
      if (line.startsWith('%output ')) {
        const space = line.indexOf(' ', 8);
        this.onOutput(line.slice(8, space), line.slice(space + 1));
      } else if (line.startsWith('%end ') || line.startsWith('%error ')) {
        this.#answers.shift()?.(line);
      }
    }
  }
}
