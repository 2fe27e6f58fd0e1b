// The table, or the same as data.

const tty = process.stdout.isTTY === true && process.env.NO_COLOR === undefined;
const paint = (code) => (text) => (tty ? `\x1b[${code}m${text}\x1b[0m` : text);
const [dim, bold, green, red, yellow] = ['2', '1', '32', '31', '33'].map(paint);

export class Report {
  broken = false;
  #json;
  #quick;
  #rows = [];

  constructor({ json, quick }) {
    this.#json = json;
    this.#quick = quick;
    if (!json && quick) console.log(yellow('A quick run: it shows that every row works. The numbers mean little.\n'));
  }

  begin({ name }) {
    if (process.stderr.isTTY && !this.#json) process.stderr.write(dim(`… ${name}\r`));
  }

  add({ name, bar }, { figures = {}, error }) {
    if (error !== undefined) this.broken = true;
    const judged = Object.entries(bar).map(([figure, limits]) => judge(figure, limits, figures[figure]));
    this.#rows.push({ name, figures: judged, ...(error !== undefined && { error }) });
    if (this.#json) return;
    console.log(bold(name));
    if (error !== undefined) {
      console.log(`  ${red('broken')}  ${error.replaceAll('\n', '\n    ')}`);
      return;
    }
    for (const one of judged) console.log(line(one));
  }

  end() {
    const all = this.#rows.flatMap(({ figures }) => figures);
    const count = (verdict) => all.filter((figure) => figure.verdict === verdict).length;
    const summary = { met: count('met'), notMet: count('not met'), skipped: count('skipped') };
    if (this.#json) {
      const machine = { node: process.version, platform: process.platform, arch: process.arch };
      console.log(JSON.stringify({ quick: this.#quick, machine, summary, rows: this.#rows }, null, 2));
      return;
    }
    console.log(`\n${summary.met} bars met, ${summary.notMet} not met, ${summary.skipped} skipped`);
  }
}

function judge(figure, bar, measured) {
  const { value, unit = 'x', detail, skipped } = measured ?? { skipped: 'not measured' };
  if (skipped !== undefined || value === undefined) return { figure, bar, verdict: 'skipped', detail: skipped };
  const met =
    value >= (bar.atLeast ?? -Infinity) && value <= (bar.atMost ?? Infinity) && value < (bar.below ?? Infinity);
  return { figure, bar, value: Number(value.toPrecision(4)), unit, verdict: met ? 'met' : 'not met', detail };
}

function line({ figure, bar, value, unit, verdict, detail }) {
  const colour = { met: green, 'not met': red, skipped: yellow }[verdict];
  const shown = value === undefined ? '–' : `${short(value)}${unit === 'x' ? 'x' : ` ${unit}`}`;
  return `  ${figure.padEnd(38)} ${shown.padStart(10)}  ${wanted(bar).padEnd(9)} ${colour(verdict.padEnd(8))} ${dim(detail ?? '')}`;
}

function wanted({ atLeast, atMost, below }) {
  if (atLeast !== undefined) return `≥ ${atLeast}`;
  return atMost !== undefined ? `≤ ${atMost}` : `< ${below}`;
}

const short = (value) => (Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3))));
