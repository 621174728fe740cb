import { createHmac } from 'node:crypto';
import { minuteMs, secondMs } from '../calendar.ts';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';

/**
 * Exponential backoff within three days.
 *
 * @see https://docs.stripe.com/webhooks
 */
const liveDelaysMs = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440].map((minutes) => minutes * minuteMs);
const testDelaysMs = [10, 60, 180].map((minutes) => minutes * minuteMs);

/**
 * Creates the signed request for an event.
 *
 * @see https://docs.stripe.com/webhooks/signatures
 */
export function toOutgoingNotification(secret: string, { native }: StoreNotification): OutgoingNotification {
  const body = JSON.stringify(native, null, 2);
  return {
    body,
    buildHeaders: (sentAt) => ({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'stripe-signature': signPayload(body, {
        secret,
        timestamp: Math.floor(sentAt / secondMs),
        livemode: native.livemode === true,
      }),
    }),
    retryDelaysMs: native.livemode === true ? liveDelaysMs : testDelaysMs,
    isDelivered: (status) => status >= 200 && status < 300,
  };
}

interface SignatureInput {
  readonly secret: string;
  readonly timestamp: number;
  readonly livemode: boolean;
}

function signPayload(body: string, { secret, timestamp, livemode }: SignatureInput): string {
  const sign = (key: string): string => createHmac('sha256', key).update(`${timestamp}.${body}`).digest('hex');
  // Test mode adds a fake v0 signature, which receivers must ignore.
  return `t=${timestamp},v1=${sign(secret)}${livemode ? '' : `,v0=${sign('fake')}`}`;
}
