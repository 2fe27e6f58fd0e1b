/** One kind of fact, many listeners. A listener that throws does not stop the others; the first error is rethrown after. */
export class Emitter<T> {
  readonly #listeners = new Set<(value: T) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  on(listener: (value: T) => void): Disposable {
    // A fresh function, so that the same listener may be added twice and removed one at a time.
    const entry = (value: T): void => listener(value);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  emit(value: T): void {
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
