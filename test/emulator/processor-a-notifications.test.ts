import { beforeEach, describe, expect, it, test } from '@jest/globals';
import Stripe from 'stripe';
import type { OutgoingNotification } from '../../emulator/outgoing-notification.ts';
import { processorA } from '../../emulator/processor-a/processor-a.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import { dayMs, monthEnd, nextMonthEnd, type Step } from './random-histories.ts';

let store: NotifyingStore;
beforeEach(async () => {
  store = await openNotifyingStore(processorA);
});

const plan = { productId: 'plan', type: 'paid subscription' } as const;
const { webhooks } = new Stripe('sk_test_of_nobody');
const seconds = (ms: number): number => ms / 1000;

/** The event, as the official client believes it when it was sent at that moment. */
function eventIn({ body, buildHeaders }: OutgoingNotification, sentAt = store.now(), secret = secretOf(store)) {
  const header = buildHeaders(sentAt)['stripe-signature'] ?? '';
  return webhooks.constructEvent(body, header, secret, 300, undefined, sentAt);
}

const secretOf = ({ settings }: NotifyingStore): string => String((settings.webhookSecrets as string[])[0]);
const typesOf = (posted: readonly OutgoingNotification[]) => posted.map((outgoing) => eventIn(outgoing).type);

const bought = ['product.created', 'price.created', 'payment_intent.succeeded', 'invoice.paid'];

describe('what is bought', () => {
  test.each([
    ['a subscription', plan, [...bought, 'customer.subscription.created', 'checkout.session.completed']],
    [
      'a trial',
      { ...plan, trial: true },
      [
        ...bought.filter((type) => !type.startsWith('pay')),
        'customer.subscription.created',
        'checkout.session.completed',
      ],
    ],
    [
      'a single payment',
      { productId: 'coins', type: 'consumable' as const },
      [...bought.slice(0, 3), 'checkout.session.completed'],
    ],
  ])('as %s', (_what, order, types) => {
    store.placeOrder(order);
    expect(typesOf(store.takePosted())).toEqual(types);
  });
});

describe('a subscription', () => {
  const [paid, unpaid] = ['payment_intent.succeeded', 'payment_intent.payment_failed'];
  const updated = 'customer.subscription.updated';
  const failing: Step = ['fail-payment'];
  const disputed = ['created', 'funds_withdrawn', 'closed'].map((turn) => `charge.dispute.${turn}`);
  test.each<[string, readonly Step[], readonly string[]]>([
    ['renews', [['renew']], [paid, 'invoice.paid', updated]],
    ['will end', [['cancel']], [updated]],
    ['will go on', [['cancel'], ['uncancel']], [updated]],
    ['ends', [['cancel'], 'P1M'], ['customer.subscription.deleted']],
    ['ends at once', [['expire']], ['customer.subscription.deleted']],
    ['is past due', [failing], [unpaid, 'invoice.payment_failed', updated]],
    ['is unpaid', [failing, failing], ['invoice.payment_failed', updated]],
    ['is paid late', [failing, ['recover']], [paid, 'invoice.paid', updated]],
    ['is not collected', [['pause']], [updated]],
    ['is collected again', [['pause'], ['resume']], [updated]],
    ['is refunded', [['refund']], ['refund.created', 'charge.refunded']],
    ['is disputed', [['revoke']], disputed],
    [
      'changes its plan',
      [['change-plan', { productId: 'bigger', priceMicros: 9_990_000 }]],
      ['product.created', 'price.created', paid, 'invoice.paid', updated],
    ],
  ])('that %s', (_what, steps, types) => {
    expect(typesOf(store.runSteps(store.placeOrder(plan), steps))).toEqual(types);
  });

  test.each<[string, string, readonly Step[], readonly string[]]>([
    ['not long before', 'P7D', ['P3D'], []],
    ['three days before', 'P7D', ['P4D'], ['customer.subscription.trial_will_end']],
    ['once', 'P7D', ['P4D', 'P1D'], []],
    ['at once when it is short', 'P2D', ['PT1S'], ['customer.subscription.trial_will_end']],
    ['not when it is over', 'P7D', [['renew'], 'P5D'], []],
  ])('is reminded of the end of its trial %s', (_what, trial, steps, types) => {
    expect(typesOf(store.runSteps(store.placeOrder({ ...plan, trial }), steps))).toEqual(types);
  });

  test.each<[string, readonly Step[], object]>([
    [
      'the period that it was in',
      [['renew']],
      { items: { data: [{ current_period_end: seconds(monthEnd) }] }, latest_invoice: expect.stringMatching(/^in_/) },
    ],
    [
      'that it was to go on',
      [['cancel']],
      {
        cancel_at: null,
        cancel_at_period_end: false,
        canceled_at: null,
        cancellation_details: { reason: null },
      },
    ],
    ['that it was paid', [['fail-payment']], { status: 'active' }],
    ['that it was collected', [['pause']], { pause_collection: null }],
  ])('tells %s', (_what, steps, previous) => {
    const last = store.runSteps(store.placeOrder(plan), steps).at(-1);
    expect(last && eventIn(last).data.previous_attributes).toMatchObject(previous);
  });

  it('that renews early is told of at once', () => {
    for (const outgoing of store.runSteps(store.placeOrder(plan), [['renew']])) {
      expect(eventIn(outgoing).created).toBe(seconds(store.now()));
    }
  });

  it('is shown as it was when the event happened', () => {
    const id = store.placeOrder(plan);
    const renewed = store.runSteps(id, [['renew']]).at(-1);
    store.runSteps(id, [['renew'], ['expire']]);
    const event = renewed && eventIn(renewed);
    expect(event).toMatchObject({
      id: expect.stringMatching(/^evt_\w{24}$/),
      object: 'event',
      api_version: '2026-10-28.endive',
      created: seconds(store.now()),
      livemode: true,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      data: {
        object: {
          id,
          object: 'subscription',
          status: 'active',
          items: { data: [{ current_period_end: seconds(nextMonthEnd) }] },
        },
      },
    });
  });
});

it('says why a payment failed', () => {
  const [failed] = store.runSteps(store.placeOrder(plan), [['fail-payment']]);
  expect(failed && eventIn(failed).data.object).toMatchObject({
    object: 'payment_intent',
    status: 'requires_payment_method',
    last_payment_error: { type: 'card_error', code: 'card_declined' },
  });
});

describe('a signature', () => {
  it('is made anew for each attempt', () => {
    store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    if (outgoing === undefined) throw new Error('Nothing was posted');
    expect(eventIn(outgoing, store.now() + 2 * dayMs).id).toBe(eventIn(outgoing).id);
    const header = outgoing.buildHeaders(store.now())['stripe-signature'] ?? '';
    const { body } = outgoing;
    const late = () => webhooks.constructEvent(body, header, secretOf(store), 300, undefined, store.now() + 301_000);
    expect(late).toThrow('Timestamp outside the tolerance zone');
  });

  it('of test mode has a scheme more, which is of no worth', () => {
    store.placeOrder({ ...plan, sandbox: true });
    const [outgoing] = store.takePosted();
    expect(outgoing?.buildHeaders(store.now())['stripe-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64},v0=[0-9a-f]{64}$/);
    expect(outgoing && eventIn(outgoing).livemode).toBe(false);
    expect(outgoing?.retryDelaysMs).toHaveLength(3);
  });

  it('is of the endpoint alone', () => {
    store.placeOrder(plan);
    const [outgoing] = store.takePosted();
    expect(() => outgoing && eventIn(outgoing, store.now(), 'whsec_other')).toThrow('No signatures found matching');
  });
});

it('is tried for up to three days, until the answer is a success', () => {
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
