import { createHash, createHmac } from 'node:crypto';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import type { MerchantState } from './merchant-state.ts';
import { toXmlDocument, type XmlValue } from './xml.ts';

const hourMs = 3_600_000;

/** Hourly for three hours: the merchant's account is one of the sandbox, in production it is a day. */
const retryDelaysMs = [hourMs, hourMs, hourMs];

/** How the gateway posts a webhook: a form with the notification in XML and the merchant's signature over it. */
export function toOutgoingNotification(books: MerchantState, { native }: StoreNotification): OutgoingNotification {
  const payload = wrapLines(Buffer.from(toXmlDocument('notification', native as XmlValue)).toString('base64'));
  const body = new URLSearchParams({ bt_signature: signPayload(books, payload), bt_payload: payload }).toString();
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

/** Lines of sixty characters, each with its end. */
const wrapLines = (base64: string): string => base64.replace(/.{1,60}/g, '$&\n');

function signPayload({ publicKey, privateKey }: MerchantState, payload: string): string {
  const key = createHash('sha1').update(privateKey).digest();
  return `${publicKey}|${createHmac('sha1', key).update(payload).digest('hex')}`;
}
