import { createHmac } from 'node:crypto';
import type { StoreNotification } from '../emulated-store.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';

const minuteMs = 60_000;

/** Twice as long each time, within three days. */
const liveDelaysMs = [5, 10, 20, 40, 80, 160, 320, 640, 1280, 1440].map((minutes) => minutes * minuteMs);
const testDelaysMs = [10, 60, 180].map((minutes) => minutes * minuteMs);

/** How the processor posts an event to the webhook endpoint whose signing secret that is. */
export function toOutgoingNotification(secret: string, { native }: StoreNotification): OutgoingNotification {
  const body = JSON.stringify(native, null, 2);
  return {
    body,
    buildHeaders: (sentAt) => ({
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
      'stripe-signature': signPayload(body, {
        secret,
        t: Math.floor(sentAt / 1000),
        livemode: native.livemode === true,
      }),
    }),
    retryDelaysMs: native.livemode === true ? liveDelaysMs : testDelaysMs,
    isDelivered: (status) => status >= 200 && status < 300,
  };
}

interface SignatureInput {
  readonly secret: string;
  readonly t: number;
  readonly livemode: boolean;
}

function signPayload(body: string, { secret, t, livemode }: SignatureInput): string {
  const seal = (key: string): string => createHmac('sha256', key).update(`${t}.${body}`).digest('hex');
  // Events of test mode carry a signature of a scheme that does not exist, so that nobody believes every scheme.
  return `t=${t},v1=${seal(secret)}${livemode ? '' : `,v0=${seal('of no worth')}`}`;
}
