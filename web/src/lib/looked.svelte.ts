import { SvelteMap } from 'svelte/reactivity';

const place = 'looked';
const most = 300;

function stored(): [string, number][] {
  try {
    const read: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(read) ? (read as [string, number][]).slice(-most) : [];
  } catch {
    return [];
  }
}

/** When this browser last looked at each terminal. What was done or failed before then is no news here any more. */
class Looked {
  readonly at = new SvelteMap<string, number>(stored());

  constructor() {
    addEventListener('storage', ({ key }) => {
      if (key === place) for (const [id, at] of stored()) this.at.set(id, at);
    });
  }

  mark(id: string): void {
    this.at.delete(id);
    this.at.set(id, Date.now());
    localStorage.setItem(place, JSON.stringify([...this.at].slice(-most)));
  }
}

export const looked = new Looked();

/** A look shorter than this does not count. */
export const lookMs = 3000;
