const bold = 1024;
export const dim = 2048;
export const inverse = 4096;

/** The classes of a look: its colours, and bold. Text colour, ground, bold, dim and inverse are bits of one number. */
export function lookClass(bits: number): string {
  const [text, ground] = bits & inverse ? [(bits >> 5) & 31, bits & 31] : [bits & 31, (bits >> 5) & 31];
  const way = bits & inverse ? 'i' : 'n';
  return `${way}${text}-${ground}${bits & dim ? 'd' : ''}${bits & bold ? ' b' : ''}`;
}

/** The looks that small pictures have used; their colours are found out elsewhere. */
class Looks {
  readonly #seen = new Map<string, number>();
  #told: ((bits: number) => void) | undefined;

  /** The classes of a look, whose rule is asked for when it is new. */
  classOf(bits: number): string {
    const name = lookClass(bits);
    if (!this.#seen.has(name)) {
      this.#seen.set(name, bits);
      this.#told?.(bits);
    }
    return name;
  }

  all(): number[] {
    return [...this.#seen.values()];
  }

  onNew(told: (bits: number) => void): void {
    this.#told = told;
  }
}

export const looks = new Looks();
