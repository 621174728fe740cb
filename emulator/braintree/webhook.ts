import { createHash, createHmac } from 'node:crypto';
import { hourMs } from '../calendar.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import type { MerchantState } from './merchant-state.ts';
import { toXmlDocument, type XmlValue } from './xml.ts';

/**
 * Hourly for three hours, as in the sandbox. Production retries for 24 h.
 *
 * @see https://developer.paypal.com/braintree/docs/guides/webhooks/parse/node
 */
const retryDelaysMs = [hourMs, hourMs, hourMs];

/** Creates the request of a webhook: a form with the notification as XML and its signature. */
export function toOutgoingNotification(state: MerchantState, { native }: StoreNotification): OutgoingNotification {
  const payload = wrapLines(Buffer.from(toXmlDocument('notification', native as XmlValue)).toString('base64'));
  const body = new URLSearchParams({ bt_signature: signPayload(state, payload), bt_payload: payload }).toString();
  return {
    body,
    buildHeaders: () => ({
      accept: '*/*',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Braintree-Webhooks',
    }),
    retryDelaysMs,
    isDelivered: (status) => status >= 200 && status < 300,
  };
}

/** Splits text into lines of 60 characters that end with a newline. */
const wrapLines = (base64: string): string => base64.replace(/.{1,60}/g, '$&\n');

function signPayload({ publicKey, privateKey }: MerchantState, payload: string): string {
  const key = createHash('sha1').update(privateKey).digest();
  return `${publicKey}|${createHmac('sha1', key).update(payload).digest('hex')}`;
}
