import type { Millis } from '../purchases/purchase.ts';
import type { NotificationReason } from './reasons.ts';

interface Noted {
  readonly date: Millis;
  readonly reason: NotificationReason;
}

interface Source {
  notificationsOf(app: string, purchaseId: string): Promise<readonly Noted[]>;
}

/** Purchases whose notifications are read at the same time. */
const parallel = 25;

/** The notifications of several purchases, by purchase, each read once. */
export async function notificationsOfEach(
  app: string,
  purchaseIds: readonly string[],
  source: Source,
): Promise<ReadonlyMap<string, readonly Noted[]>> {
  const wanted = [...new Set(purchaseIds)];
  const found = new Map<string, readonly Noted[]>();
  for (let start = 0; start < wanted.length; start += parallel) {
    await Promise.all(
      wanted.slice(start, start + parallel).map(async (id) => {
        found.set(id, await source.notificationsOf(app, id));
      }),
    );
  }
  return found;
}
