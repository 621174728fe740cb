import type { EventRecord } from '../../lib/events/event.ts';
import { listEventsByTags } from '../../lib/events/event-list-table.ts';
import type { Platform } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import type { EpochMillis } from '../../lib/foundation/time.ts';
import type { PurchaseView } from './service-client.ts';

/** A store notification that the service received and processed. */
export interface Arrival {
  readonly receivedAt: EpochMillis;
  /** Native type, such as `DID_RENEW`. */
  readonly type: string;
}

/** Events of a purchase that are read: a proof takes some dozens. */
const maxEvents = 300;

interface ArrivalQuery {
  readonly appName: string;
  readonly platform: Platform;
  readonly purchaseId: string;
}

/** The events of a purchase, oldest first. */
export async function listPurchaseEvents(
  service: Service,
  { appName, purchaseId }: ArrivalQuery,
): Promise<readonly EventRecord[]> {
  return (await listEventsByTags(service, appName, [purchaseId], maxEvents)).toSorted((a, b) => a.date - b.date);
}

/** Selects the purchase of the store that was bought last. The list also has earlier ones that have changed later. */
export const selectBought = (
  changed: readonly PurchaseView[],
  platform: Platform,
  since: EpochMillis,
): PurchaseView | undefined =>
  changed
    .filter(({ purchaseId }) => purchaseId.startsWith(`${platform}:`))
    .map((purchase) => ({ purchase, boughtAt: Date.parse(purchase.purchaseDate ?? '') }))
    .filter(({ boughtAt }) => boughtAt >= since)
    .sort((a, b) => a.boughtAt - b.boughtAt)
    .at(-1)?.purchase;

/** Selects the notifications of the store. */
export const selectArrivals = (events: readonly EventRecord[], platform: Platform): readonly Arrival[] =>
  events
    .filter(({ type, outcome }) => type === `webhook.${platform}.called` && outcome.ok)
    .flatMap(({ date, content }) =>
      content.notifications.flatMap(({ type }) => (typeof type === 'string' ? [{ receivedAt: date, type }] : [])),
    );

/** Selects the times at which a webhook with one of the reasons was delivered to the app. */
export const selectDeliveries = (events: readonly EventRecord[], reasons: readonly string[]): readonly EpochMillis[] =>
  events
    .filter(({ type, outcome }) => type === 'webhook.app.called' && outcome.ok)
    .filter(({ content }) => content.notifications.some(({ reason }) => reasons.includes(String(reason))))
    .map(({ date }) => date);
