import { useEffect, useState } from 'preact/hooks';

/** A value outside of components that components observe. */
interface Observable<T> {
  get(): T;
  set(value: T): void;
  /** Returns the value and renders the component again if it changes. */
  use(): T;
}

export function createObservable<T>(initial: T): Observable<T> {
  let value = initial;
  const listeners = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of [...listeners]) listener(next);
    },
    use() {
      const [current, setCurrent] = useState(() => value);
      useEffect(() => {
        const listener = (next: T) => setCurrent(() => next);
        listeners.add(listener);
        listener(value);
        return () => {
          listeners.delete(listener);
        };
      }, []);
      return current;
    },
  };
}
