import { beforeEach, describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import { dayMs, secondMs } from '../calendar.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { apiVersion } from '../stripe/api-error.ts';
import { stripe } from '../stripe/stripe.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import { monthEnd, nextMonthEnd, type Step } from './random-histories.ts';
import { toSeconds } from './stripe-client.ts';

let store: NotifyingStore;
beforeEach(async () => {
  store = await openNotifyingStore(stripe);
});

/** Compiles only if the emulator has the API version of the installed Stripe client. */
const latestApiVersion: Stripe.LatestApiVersion = apiVersion;

const plan = { productId: 'plan', type: 'paid subscription' } as const;
const { webhooks } = new Stripe('sk_test_unused');

/** Verifies and parses an event with the official client, as sent at `sentAt`. */
function parseEvent({ body, buildHeaders }: OutgoingNotification, sentAt = store.now(), secret = getSecret(store)) {
  const header = buildHeaders(sentAt)['stripe-signature'] ?? '';
  return webhooks.constructEvent(body, header, secret, 300, undefined, sentAt);
}

const getSecret = ({ settings }: NotifyingStore): string => String((settings.webhookSecrets as string[])[0]);
const listTypes = (notifications: readonly OutgoingNotification[]) =>
  notifications.map((outgoing) => parseEvent(outgoing).type);

const orderEvents = ['product.created', 'price.created', 'payment_intent.succeeded', 'invoice.paid'];

describe('order at the emulated Stripe', () => {
  it.each([
    ['a subscription', plan, [...orderEvents, 'customer.subscription.created', 'checkout.session.completed']],
    [
      'a trial',
      { ...plan, trial: true },
      [
        ...orderEvents.filter((type) => !type.startsWith('pay')),
        'customer.subscription.created',
        'checkout.session.completed',
      ],
    ],
    [
      'a one-time payment',
      { productId: 'coins', type: 'consumable' as const },
      [...orderEvents.slice(0, 3), 'checkout.session.completed'],
    ],
  ])('emits the events of %s', (_order, order, types) => {
    store.placeOrder(order);
    expect(listTypes(store.takePosted())).toEqual(types);
  });
});

describe('subscription of the emulated Stripe', () => {
  const [paid, unpaid] = ['payment_intent.succeeded', 'payment_intent.payment_failed'];
  const updated = 'customer.subscription.updated';
  const failing: Step = ['fail-payment'];
  const disputed = ['created', 'funds_withdrawn', 'closed'].map((name) => `charge.dispute.${name}`);
  it.each<[string, readonly Step[], readonly string[]]>([
    ['renewal', [['renew']], [paid, 'invoice.paid', updated]],
    ['cancelation', [['cancel']], [updated]],
    ['reverted cancelation', [['cancel'], ['uncancel']], [updated]],
    ['end of a canceled period', [['cancel'], 'P1M'], ['customer.subscription.deleted']],
    ['immediate end', [['expire']], ['customer.subscription.deleted']],
    ['failed payment', [failing], [unpaid, 'invoice.payment_failed', updated]],
    ['second failed payment', [failing, failing], ['invoice.payment_failed', updated]],
    ['recovered payment', [failing, ['recover']], [paid, 'invoice.paid', updated]],
    ['pause', [['pause']], [updated, 'customer.subscription.paused']],
    ['resumption', [['pause'], ['resume']], [paid, 'invoice.paid', updated, 'customer.subscription.resumed']],
    ['pause of the collection', [['pause-collection']], [updated]],
    ['renewal while the collection is paused', [['pause-collection'], ['renew']], [updated]],
    ['resumption of the collection', [['pause-collection'], ['resume-collection']], [updated]],
    ['refund', [['refund']], ['refund.created', 'charge.refunded']],
    ['failed refund', [['refund'], ['reverse-refund']], ['refund.updated', 'refund.failed']],
    ['refund outside of Stripe', [['refund-outside', { amountMicros: 1_000_000 }]], ['credit_note.created']],
    ['end by a schedule', [['schedule-end'], 'P1M'], ['customer.subscription.deleted']],
    ['credit note of an open invoice', [failing, ['forgive']], ['credit_note.created', 'invoice.paid', updated]],
    [
      'refund that a payment record reports',
      [failing, ['pay', { record: true }], ['refund-outside', { record: true }]],
      [],
    ],
    ['dispute', [['revoke']], disputed],
    ['dispute after a full refund', [['refund'], ['revoke']], disputed],
    ['inquiry', [['inquire']], ['charge.dispute.created']],
    ['evidence for an inquiry', [['inquire'], ['answer-inquiry']], ['charge.dispute.updated']],
    ['inquiry that is closed', [['inquire'], ['close-inquiry']], ['charge.dispute.closed']],
    [
      'inquiry that is escalated',
      [['inquire'], ['answer-inquiry'], ['dispute']],
      ['charge.dispute.funds_withdrawn', 'charge.dispute.updated'],
    ],
    [
      'inquiry that a refund resolves',
      [['inquire'], ['refund']],
      ['refund.created', 'charge.refunded', 'charge.dispute.closed'],
    ],
    [
      'dispute that is won in part',
      [['dispute'], ['win-dispute', { amountMicros: 1_000_000 }]],
      ['charge.dispute.closed', 'charge.dispute.funds_reinstated'],
    ],
    [
      'plan change',
      [['change-plan', { productId: 'bigger', priceMicros: 9_990_000 }]],
      ['product.created', 'price.created', paid, 'invoice.paid', updated],
    ],
  ])('emits the events of the transition "%s"', (_transition, steps, types) => {
    expect(listTypes(store.runSteps(store.placeOrder(plan), steps))).toEqual(types);
  });

  it.each<[string, string, readonly Step[], readonly string[]]>([
    ['does not send a trial reminder more than three days before the end', 'P7D', ['P3D'], []],
    ['sends a trial reminder three days before the end', 'P7D', ['P4D'], ['customer.subscription.trial_will_end']],
    ['sends the trial reminder once', 'P7D', ['P4D', 'P1D'], []],
    ['sends the reminder of a short trial immediately', 'P2D', ['PT1S'], ['customer.subscription.trial_will_end']],
    ['does not send a reminder after the trial', 'P7D', [['renew'], 'P5D'], []],
  ])('%s', (_title, trial, steps, types) => {
    expect(listTypes(store.runSteps(store.placeOrder({ ...plan, trial }), steps))).toEqual(types);
  });

  it.each<[string, readonly Step[], object]>([
    [
      'the previous period',
      [['renew']],
      { items: { data: [{ current_period_end: toSeconds(monthEnd) }] }, latest_invoice: expect.stringMatching(/^in_/) },
    ],
    [
      'the previous cancelation',
      [['cancel']],
      {
        cancel_at: null,
        cancel_at_period_end: false,
        canceled_at: null,
        cancellation_details: { reason: null },
      },
    ],
    ['the previous status', [['fail-payment']], { status: 'active' }],
    ['the previous pause of the collection', [['pause-collection']], { pause_collection: null }],
  ])('sends %s as previous attribute', (_member, steps, previous) => {
    const last = store.runSteps(store.placeOrder(plan), steps).at(-1);
    expect(last && parseEvent(last).data.previous_attributes).toMatchObject(previous);
  });

  it('dates the events of an early renewal now', () => {
    for (const outgoing of store.runSteps(store.placeOrder(plan), [['renew']])) {
      expect(parseEvent(outgoing).created).toBe(toSeconds(store.now()));
    }
  });

  it('sends the state at the time of the event', () => {
    const id = store.placeOrder(plan);
    const outgoing = store.runSteps(id, [['renew']]).at(-1);
    store.runSteps(id, [['renew'], ['expire']]);
    const event = outgoing && parseEvent(outgoing);
    expect(event).toMatchObject({
      id: expect.stringMatching(/^evt_\w{24}$/),
      object: 'event',
      api_version: latestApiVersion,
      created: toSeconds(store.now()),
      livemode: true,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      data: {
        object: {
          id,
          object: 'subscription',
          status: 'active',
          items: { data: [{ current_period_end: toSeconds(nextMonthEnd) }] },
        },
      },
    });
  });
});

describe('event of a failed payment of the emulated Stripe', () => {
  it('contains the error of the payment', () => {
    const [failed] = store.runSteps(store.placeOrder(plan), [['fail-payment']]);
    expect(failed && parseEvent(failed).data.object).toMatchObject({
      object: 'payment_intent',
      status: 'requires_payment_method',
      last_payment_error: { type: 'card_error', code: 'card_declined' },
    });
  });
});

describe('signature of an event of the emulated Stripe', () => {
  it('changes with each attempt', () => {
    store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    if (outgoing === undefined) throw new Error('A notification was expected');
    expect(parseEvent(outgoing, store.now() + 2 * dayMs).id).toBe(parseEvent(outgoing).id);
    const header = outgoing.buildHeaders(store.now())['stripe-signature'] ?? '';
    const { body } = outgoing;
    const late = () =>
      webhooks.constructEvent(body, header, getSecret(store), 300, undefined, store.now() + 301 * secondMs);
    expect(late).toThrow('Timestamp outside the tolerance zone');
  });

  it('contains an additional fake scheme in test mode', () => {
    store.placeOrder({ ...plan, sandbox: true });
    const [outgoing] = store.takePosted();
    expect(outgoing?.buildHeaders(store.now())['stripe-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v0=[0-9a-f]{64}$/);
    expect(outgoing && parseEvent(outgoing).livemode).toBe(false);
    expect(outgoing?.retryDelaysMs).toHaveLength(3);
  });

  it('matches only the secret of the endpoint', () => {
    store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    expect(() => outgoing && parseEvent(outgoing, store.now(), 'whsec_other')).toThrow('No signatures found matching');
  });
});

describe('event of the emulated Stripe', () => {
  it('defines retries for up to three days', () => {
    store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    const delays = outgoing?.retryDelaysMs ?? [];
    const total = delays.reduce((sum, delay) => sum + delay, 0);
    expect(total).toBeLessThanOrEqual(3 * dayMs);
    expect(total).toBeGreaterThan(2 * dayMs);
    expect(delays.every((delay, i) => delay > (delays[i - 1] ?? 0))).toBe(true);
    const responses = [199, 200, 204, 299, 301, 400, 500];
    expect(responses.filter((status) => outgoing?.isDelivered(status))).toEqual([200, 204, 299]);
  });
});
