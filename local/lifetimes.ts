/** Something that runs until it is closed. */
export interface Closable {
  close(): Promise<void>;
}

/** Things that were started together and end together, the latest first. */
export interface Lifetimes {
  /** Takes charge of what is starting, and hands it on. */
  hold<T extends Closable>(starting: Promise<T> | T): Promise<T>;
  /** Waits for what is still starting, then closes everything that did start. */
  end(): Promise<void>;
}

/** An empty set of lifetimes. */
export function lifetimes(): Lifetimes {
  const held: Promise<Closable>[] = [];
  return {
    hold(starting) {
      const started = Promise.resolve(starting);
      // Whoever waits for it hears of a failure; until then it must not end the process.
      started.catch(() => {});
      held.push(started);
      return started;
    },
    async end() {
      for (const started of held.splice(0).reverse()) {
        const running = await started.catch(() => undefined);
        await running?.close();
      }
    },
  };
}
