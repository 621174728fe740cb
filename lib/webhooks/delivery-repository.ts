import type { CursorPage } from '../shared/cursor-page.ts';
import type { EpochMillis } from '../shared/time.ts';
import type { WebhookDelivery } from './delivery.ts';
import type { WebhookUrlHealth } from './endpoint-health.ts';

/** A page of the deliveries that match all filters. */
export interface DeliveryQuery {
  readonly state?: WebhookDelivery['state'] | undefined;
  /** Lists the attempts of this customer's deliveries, so deliveries without an attempt are left out. */
  readonly username?: string | undefined;
  /** The URL, or the form in which responses contain it. */
  readonly url?: string | undefined;
  /** Range of the creation: from `startdate` (included) to `enddate` (excluded). */
  readonly startdate?: EpochMillis | undefined;
  readonly enddate?: EpochMillis | undefined;
  readonly limit: number;
  /** The position of the previous page. */
  readonly cursor?: string | undefined;
}

type UrlBackoff = Pick<WebhookUrlHealth, 'backoffUntil' | 'consecutiveFailures'>;

/** The webhook deliveries of all apps, and the health of the URLs. */
export interface DeliveryRepository {
  /** Idempotent: an existing delivery is not overwritten. Returns whether it was created. */
  createIfAbsent(delivery: WebhookDelivery): Promise<boolean>;
  find(appName: string, deliveryId: string): Promise<WebhookDelivery | undefined>;
  /** Replaces a delivery. Returns false if another worker has changed it since `before` was read. */
  replaceIfUnchanged(before: WebhookDelivery, after: WebhookDelivery, now: EpochMillis): Promise<boolean>;
  /** Lists a page of deliveries, newest first. */
  listPage(appName: string, query: DeliveryQuery): Promise<CursorPage<WebhookDelivery>>;
  findUrlHealth(appName: string, url: string): Promise<WebhookUrlHealth>;
  /** Stops deliveries to the URL until `enableUrl`. */
  disableUrl(appName: string, url: string, disabledAt: EpochMillis): Promise<void>;
  /** Resets the health of the URL. */
  enableUrl(appName: string, url: string): Promise<void>;
  /** Stores the backoff of an unresponsive URL, or removes it. Ignores a disabled URL. */
  saveUrlBackoff(appName: string, url: string, backoff: UrlBackoff): Promise<void>;
}
