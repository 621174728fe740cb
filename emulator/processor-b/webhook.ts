import { createHash, createHmac } from 'node:crypto';
import type { StoreMessage } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import type { Books } from './books.ts';
import { type Value, xmlDocument } from './xml.ts';

const hourMs = 3_600_000;

/** Hourly for three hours: the merchant's account is one of the sandbox, in production it is a day. */
const retryDelaysMs = [hourMs, hourMs, hourMs];

/** How the gateway posts a webhook: a form with the notification in XML and the merchant's signature over it. */
export function webhookOf(books: Books, { native }: StoreMessage): OutgoingNotification {
  const payload = wrapped(Buffer.from(xmlDocument('notification', native as Value)).toString('base64'));
  const body = new URLSearchParams({ bt_signature: signatureOf(books, payload), bt_payload: payload }).toString();
  return {
    body,
    headersAt: () => ({
      accept: '*/*',
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': 'Braintree-Webhooks',
    }),
    retryDelaysMs,
    isDelivered: (status) => status >= 200 && status < 300,
  };
}

/** Lines of sixty characters, each with its end. */
const wrapped = (base64: string): string => base64.replace(/.{1,60}/g, '$&\n');

function signatureOf({ publicKey, privateKey }: Books, payload: string): string {
  const key = createHash('sha1').update(privateKey).digest();
  return `${publicKey}|${createHmac('sha1', key).update(payload).digest('hex')}`;
}
