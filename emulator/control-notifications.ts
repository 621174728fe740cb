import * as v from 'valibot';
import { controlError } from './control-error.ts';
import { DeliveryRule } from './delivery-rules.ts';
import { type Emulator, getStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { DeliveryState, toDeliveryView } from './notification-delivery.ts';
import { parseBody } from './parse-body.ts';
import { ReleaseOrder } from './release-order.ts';

/**
 * `GET /control/notifications`: returns the URLs, the delivery rules (`orders`) and the deliveries. A query selects
 * purchases and states.
 */
export function listNotifications({ outbox }: Emulator, { query }: HttpRequest): object {
  const purchaseIds = query.getAll('purchaseId');
  const states = query.getAll('state').map(parseState);
  const deliveries = outbox
    .listDeliveries()
    .filter(({ purchaseId }) => purchaseIds.length === 0 || purchaseIds.includes(purchaseId))
    .filter(({ state }) => states.length === 0 || states.includes(state));
  return {
    urls: outbox.urls(),
    orders: outbox.deliveryRules.list(),
    notifications: deliveries.map(toDeliveryView),
  };
}

function parseState(text: string): DeliveryState {
  if (v.is(DeliveryState, text)) return text;
  throw controlError(400, `state: expected ${DeliveryState.options.join(', ')}, not ${text}.`);
}

/** `POST /control/notifications`: adds a delivery rule. */
export function addDeliveryRule(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...rule } = parseBody(DeliveryRule, call);
  const { deliveryRules } = emulator.outbox;
  deliveryRules.add(platform === undefined ? rule : { ...rule, platform: getNotifyingStore(emulator, platform, 400) });
  return { orders: deliveryRules.list() };
}

/** `DELETE /control/notifications`: clears the delivery rules, so that each notification is sent once, immediately. */
export function clearDeliveryRules({ outbox }: Emulator): object {
  outbox.deliveryRules.clear();
  return {};
}

const NotificationUrlBody = v.strictObject({ url: v.nullable(v.string()) });

/** `PUT /control/notifications/{platform}`: sets the URL of a store's notifications. Null turns them off. */
export function setNotificationUrl(emulator: Emulator, call: HttpRequest, [name = '']: readonly string[]): object {
  const platform = getNotifyingStore(emulator, name, 404);
  const { url } = parseBody(NotificationUrlBody, call);
  emulator.outbox.setUrl(platform, url === null ? undefined : parseNotificationUrl(url));
  return { platform, url };
}

const ReleaseBody = v.strictObject({ platform: v.exactOptional(v.string()), ...ReleaseOrder.entries });

/** `POST /control/notifications/release`: sends the held notifications. */
export function releaseNotifications(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...order } = parseBody(ReleaseBody, call);
  const filter = platform === undefined ? {} : { platform: getNotifyingStore(emulator, platform, 400) };
  return { released: emulator.outbox.release({ ...order, ...filter }) };
}

/** Validates the URL of a notification endpoint. Throws 400 unless it is an http or https URL. */
export function parseNotificationUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw controlError(400, `url: expected an http or https URL, not ${url}.`);
  }
  return url;
}

function getNotifyingStore(emulator: Emulator, name: string, status: 400 | 404): string {
  const { platform, toOutgoingNotification } = getStore(emulator, name, status);
  if (toOutgoingNotification === undefined) throw controlError(422, `${platform} does not post notifications.`);
  return platform;
}
