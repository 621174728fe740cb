import * as v from 'valibot';
import { DeliveryOrder } from './delivery-orders.ts';
import { type Emulator, storeOf } from './emulator.ts';
import type { Call } from './http-messages.ts';
import { parsedBody } from './parsed-body.ts';
import { shownPosting } from './posting.ts';
import { refusal } from './refusal.ts';
import { ReleaseOrder } from './release-order.ts';

/** `GET /control/notifications`: where notifications go, how the next ones are delivered, and how the others fare. */
export const listNotifications = ({ outbox }: Emulator): object => ({
  urls: outbox.urls(),
  orders: outbox.orders.all(),
  notifications: outbox.postings().map(shownPosting),
});

/** `POST /control/notifications`. */
export function addOrder(emulator: Emulator, call: Call): object {
  const { platform, ...order } = parsedBody(DeliveryOrder, call);
  const { orders } = emulator.outbox;
  orders.add(platform === undefined ? order : { ...order, platform: postingStore(emulator, platform, 400) });
  return { orders: orders.all() };
}

/** `DELETE /control/notifications`: what comes is delivered once and at once again. */
export function clearOrders({ outbox }: Emulator): object {
  outbox.orders.clear();
  return {};
}

const Target = v.strictObject({ url: v.nullable(v.string()) });

/** `PUT /control/notifications/{platform}`; null has the store post nothing. */
export function notifyAt(emulator: Emulator, call: Call, [name = '']: readonly string[]): object {
  const platform = postingStore(emulator, name, 404);
  const { url } = parsedBody(Target, call);
  emulator.outbox.notifyAt(platform, url === null ? undefined : postable(url));
  return { platform, url };
}

const Release = v.strictObject({ platform: v.exactOptional(v.string()), ...ReleaseOrder.entries });

/** `POST /control/notifications/release`. */
export function release(emulator: Emulator, call: Call): object {
  const { platform, ...order } = parsedBody(Release, call);
  const from = platform === undefined ? {} : { platform: postingStore(emulator, platform, 400) };
  return { released: emulator.outbox.release({ ...order, ...from }) };
}

/** A URL that can be posted to; refuses any other. */
export function postable(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw refusal(400, `url: expected an http or https URL, not ${url}.`);
  }
  return url;
}

function postingStore(emulator: Emulator, name: string, status: 400 | 404): string {
  const { platform, notification } = storeOf(emulator, name, status);
  if (notification === undefined) throw refusal(422, `${platform} posts no notifications.`);
  return platform;
}
