/** A running resource that can be closed. */
export interface Closable {
  close(): Promise<void>;
}

/** Resources that are closed together, in reverse order of their start. */
export interface ShutdownStack {
  /** Adds a resource that is starting, and returns it. */
  add<T extends Closable>(starting: Promise<T> | T): Promise<T>;
  /** Waits for pending starts, then closes every resource that did start. */
  closeAll(): Promise<void>;
}

export function createShutdownStack(): ShutdownStack {
  const resources: Promise<Closable>[] = [];
  return {
    add(starting) {
      const started = Promise.resolve(starting);
      // The caller awaits the failure. Until then it must not end the process as an unhandled rejection.
      started.catch(() => {});
      resources.push(started);
      return started;
    },
    async closeAll() {
      for (const started of resources.splice(0).reverse()) {
        const resource = await started.catch(() => undefined);
        await resource?.close();
      }
    },
  };
}
