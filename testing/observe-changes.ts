import type { Service } from '../lib/foundation/service.ts';
import { type PublishedChange, purchaseChanges } from '../lib/purchases/record-purchase.ts';

/** Calls `observe` with each change of a purchase that this container stores. Returns a function that stops it. */
export function observeChanges(
  { container }: Pick<Service, 'container'>,
  observe: (published: PublishedChange) => void,
): () => void {
  const onMessage = (message: unknown): void => {
    const published = message as PublishedChange;
    if (published.service.container === container) observe(published);
  };
  purchaseChanges.subscribe(onMessage);
  return () => purchaseChanges.unsubscribe(onMessage);
}
