/** Something that runs until it is closed. */
export interface Closable {
  close(): Promise<void>;
}

/** Things that were started together and end together, the latest first. */
export interface ShutdownStack {
  /** Takes charge of what is starting, and hands it on. */
  add<T extends Closable>(starting: Promise<T> | T): Promise<T>;
  /** Waits for what is still starting, then closes everything that did start. */
  closeAll(): Promise<void>;
}

/** An empty set of lifetimes. */
export function createShutdownStack(): ShutdownStack {
  const held: Promise<Closable>[] = [];
  return {
    add(starting) {
      const started = Promise.resolve(starting);
      // Whoever waits for it hears of a failure; until then it must not end the process.
      started.catch(() => {});
      held.push(started);
      return started;
    },
    async closeAll() {
      for (const started of held.splice(0).reverse()) {
        const running = await started.catch(() => undefined);
        await running?.close();
      }
    },
  };
}
