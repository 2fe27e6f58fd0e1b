/** One kind of event, many listeners. A throwing listener does not stop the others; the first error is rethrown at the end. */
export class Emitter<T> {
  // Made for the first listener: most emitters never have one.
  #listeners: Set<(value: T) => void> | undefined;

  get size(): number {
    return this.#listeners?.size ?? 0;
  }

  on(listener: (value: T) => void): Disposable {
    // A fresh function, so that the same listener may be added twice and removed one at a time.
    const entry = (value: T): void => listener(value);
    const listeners = (this.#listeners ??= new Set());
    listeners.add(entry);
    return { [Symbol.dispose]: () => void listeners.delete(entry) };
  }

  emit(value: T): void {
    if (this.#listeners === undefined) return;
    let failed = false;
    let first: unknown;
    for (const listener of this.#listeners) {
      try {
        listener(value);
      } catch (thrown) {
        if (!failed) first = thrown;
        failed = true;
      }
    }
    if (failed) throw first;
  }
}
