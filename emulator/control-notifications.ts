import * as v from 'valibot';
import { controlError } from './control-error.ts';
import { DeliveryRule } from './delivery-rules.ts';
import { type Emulator, getStore } from './emulator.ts';
import type { HttpRequest } from './http-messages.ts';
import { toDeliveryView } from './notification-delivery.ts';
import { parseBody } from './parse-body.ts';
import { ReleaseOrder } from './release-order.ts';

/** `GET /control/notifications`: where notifications go, how the next ones are delivered, and how the others fare. */
export const listNotifications = ({ outbox }: Emulator): object => ({
  urls: outbox.urls(),
  orders: outbox.deliveryRules.list(),
  notifications: outbox.listDeliveries().map(toDeliveryView),
});

/** `POST /control/notifications`. */
export function addDeliveryRule(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...order } = parseBody(DeliveryRule, call);
  const { deliveryRules } = emulator.outbox;
  deliveryRules.add(
    platform === undefined ? order : { ...order, platform: getNotifyingStore(emulator, platform, 400) },
  );
  return { orders: deliveryRules.list() };
}

/** `DELETE /control/notifications`: what comes is delivered once and at once again. */
export function clearDeliveryRules({ outbox }: Emulator): object {
  outbox.deliveryRules.clear();
  return {};
}

const NotificationUrlBody = v.strictObject({ url: v.nullable(v.string()) });

/** `PUT /control/notifications/{platform}`; null has the store post nothing. */
export function setNotificationUrl(emulator: Emulator, call: HttpRequest, [name = '']: readonly string[]): object {
  const platform = getNotifyingStore(emulator, name, 404);
  const { url } = parseBody(NotificationUrlBody, call);
  emulator.outbox.setUrl(platform, url === null ? undefined : parseNotificationUrl(url));
  return { platform, url };
}

const Release = v.strictObject({ platform: v.exactOptional(v.string()), ...ReleaseOrder.entries });

/** `POST /control/notifications/release`. */
export function releaseNotifications(emulator: Emulator, call: HttpRequest): object {
  const { platform, ...order } = parseBody(Release, call);
  const from = platform === undefined ? {} : { platform: getNotifyingStore(emulator, platform, 400) };
  return { released: emulator.outbox.release({ ...order, ...from }) };
}

/** A URL that can be posted to; refuses any other. */
export function parseNotificationUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw controlError(400, `url: expected an http or https URL, not ${url}.`);
  }
  return url;
}

function getNotifyingStore(emulator: Emulator, name: string, status: 400 | 404): string {
  const { platform, toOutgoingNotification } = getStore(emulator, name, status);
  if (toOutgoingNotification === undefined) throw controlError(422, `${platform} posts no notifications.`);
  return platform;
}
