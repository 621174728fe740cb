import { beforeEach, describe, expect, it } from '@jest/globals';
import officialClient from 'braintree';
import { braintree } from '../braintree/braintree.ts';
import { hourMs } from '../calendar.ts';
import type { OutgoingNotification } from '../outgoing-notification.ts';
import { startTime } from './emulator-client.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import type { Step } from './random-histories.ts';

let store: NotifyingStore;
beforeEach(async () => {
  store = await openNotifyingStore(braintree);
});

const plan = { productId: 'monthly', type: 'paid subscription' } as const;

/** Verifies and parses a webhook with the official client. */
async function parseWebhook({ body }: OutgoingNotification, changes: object = {}) {
  const { merchantId, publicKey, privateKey } = store.settings as Record<string, string>;
  const keys = { merchantId: merchantId ?? '', publicKey: publicKey ?? '', privateKey: privateKey ?? '', ...changes };
  const gateway = new officialClient.BraintreeGateway({ environment: officialClient.Environment.Sandbox, ...keys });
  const form = new URLSearchParams(body);
  return await gateway.webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '');
}

const listKinds = async (notifications: readonly OutgoingNotification[]) =>
  (await Promise.all(notifications.map((outgoing) => parseWebhook(outgoing)))).map(({ kind }) => kind);

function callGateway(path: string, body?: object): string {
  const { merchantId, publicKey, privateKey } = store.settings;
  const { status, body: result } = store.handleCall({
    method: body ? 'POST' : 'GET',
    host: 'api.sandbox.braintreegateway.com',
    path: `/merchants/${merchantId}/${path}`,
    query: new URLSearchParams(),
    headers: { authorization: `Basic ${Buffer.from(`${publicKey}:${privateKey}`).toString('base64')}` },
    body: Buffer.from(body ? JSON.stringify(body) : ''),
  });
  expect(status).toBe(body ? 201 : 200);
  return result;
}

/** Creates a subscription with a nonce. Returns the nonce. */
function createSubscription(order: object = {}): string {
  const nonce = store.placeOrder({ ...plan, ...order });
  callGateway('customers', { customer: { id: 'ann' } });
  callGateway('payment_methods', {
    payment_method: { customer_id: 'ann', payment_method_nonce: nonce, token: 'card' },
  });
  callGateway('subscriptions', { subscription: { id: 'mine', payment_method_token: 'card', plan_id: plan.productId } });
  return nonce;
}

const [active, charged] = ['subscription_went_active', 'subscription_charged_successfully'];

describe('pending payment of the emulated Braintree', () => {
  const found = (id: string) => callGateway(`subscriptions/${id}`);

  it('keeps a subscription Pending until it is paid', async () => {
    const nonce = createSubscription({ pending: true });
    expect(await listKinds(store.takePosted())).toEqual([]);
    expect(found('mine')).toContain('<status>Pending</status>');
    store.actions.pay?.(nonce, {});
    expect(await listKinds(store.takePosted())).toEqual([active, charged]);
    expect(found('mine')).toContain('<status>Active</status>');
    expect(found('mine')).toContain('<paid-through-date type="date">2027-02-27</paid-through-date>');
  });

  it('cancels a Pending subscription that is abandoned', async () => {
    const nonce = createSubscription({ pending: true });
    store.actions.abandon?.(nonce, {});
    expect(await listKinds(store.takePosted())).toEqual(['subscription_canceled']);
    expect(found('mine')).toContain('<status>Canceled</status>');
  });

  it.each([
    ['pay', 'transaction_settled', 'settled'],
    ['abandon', 'transaction_settlement_declined', 'settlement_declined'],
  ])('settles a payment with %s', async (action, kind, status) => {
    const nonce = store.placeOrder({ productId: 'tip_jar', type: 'consumable', pending: true });
    const transaction = { type: 'sale', amount: '4.99', payment_method_nonce: nonce };
    const created = callGateway('transactions', { transaction });
    expect(created).toContain('<status>settlement_pending</status>');
    store.actions[action]?.(nonce, {});
    expect(await listKinds(store.takePosted())).toEqual([kind]);
    const id = /<id>([^<]+)<\/id>/.exec(created)?.[1];
    expect(callGateway(`transactions/${id}`)).toContain(`<status>${status}</status>`);
  });
});

describe('subscription of the emulated Braintree', () => {
  it('emits webhooks for the first payment', async () => {
    createSubscription();
    expect(await listKinds(store.takePosted())).toEqual([active, charged]);
  });

  it('emits webhooks at the end of a trial, not before', async () => {
    createSubscription({ trial: 'P7D', autoRenew: true });
    expect(store.takePosted()).toEqual([]);
    store.advance('P7D');
    expect(await listKinds(store.takePosted())).toEqual(['subscription_trial_ended', charged]);
  });

  it.each<[string, readonly Step[], readonly string[]]>([
    ['renewal', [['renew']], [charged]],
    ['cancelation', [['cancel']], ['subscription_canceled']],
    ['expiration', [['expire']], ['subscription_expired']],
    ['failed payment', [['fail-payment']], ['subscription_charged_unsuccessfully', 'subscription_went_past_due']],
    ['recovered payment', [['fail-payment'], ['recover']], [active, charged]],
    ['refund (without a webhook)', [['refund']], []],
    ['failed refund', ['P2D', ['refund'], ['reverse-refund']], ['refund_failed']],
    ['dispute', [['revoke']], ['dispute_opened', 'dispute_lost']],
    ['dispute that is won in part', [['dispute'], ['win-dispute', { amountMicros: 1_000_000 }]], ['dispute_won']],
    ['test notification', [['test-notification']], ['check']],
  ])('emits the webhooks of the transition "%s"', async (_transition, steps, kinds) => {
    expect(await listKinds(store.runSteps(createSubscription(), steps))).toEqual(kinds);
  });

  it('dates the webhook of an early renewal now', async () => {
    const [outgoing] = store.runSteps(createSubscription(), [['renew']]);
    expect(outgoing && (await parseWebhook(outgoing)).timestamp).toBe(
      new Date(startTime).toISOString().replace('.000', ''),
    );
  });

  it('sends the state at the time of the event', async () => {
    const nonce = createSubscription();
    const [failed] = store.runSteps(nonce, [['fail-payment']]);
    store.runSteps(nonce, ['P1D', ['recover'], ['cancel']]);
    expect(failed && (await parseWebhook(failed))).toMatchObject({
      timestamp: new Date(startTime).toISOString().replace('.000', ''),
      subscription: {
        id: 'mine',
        planId: 'monthly',
        status: 'Past Due',
        price: '9.99',
        transactions: [
          { status: 'processor_declined', amount: '9.99' },
          { status: 'submitted_for_settlement', amount: '9.99' },
        ],
      },
    });
  });
});

describe('one-time payment of the emulated Braintree', () => {
  const createPayment = (): string => {
    const nonce = store.placeOrder({ productId: 'tip_jar', type: 'consumable' });
    const options = { submit_for_settlement: true };
    callGateway('transactions', {
      transaction: { type: 'sale', amount: '4.99', payment_method_nonce: nonce, options },
    });
    return nonce;
  };

  it('emits webhooks only for a dispute', async () => {
    const nonce = createPayment();
    expect(store.takePosted()).toEqual([]);
    const [opened, lost] = store.runSteps(nonce, [['revoke']]);
    const purchaseId = store.findPurchase(nonce)?.purchaseId;
    for (const [outgoing, status] of [
      [opened, 'open'],
      [lost, 'lost'],
    ] as const) {
      expect(outgoing && (await parseWebhook(outgoing))).toMatchObject({
        dispute: { status, kind: 'chargeback', amount: '4.99', transaction: { id: purchaseId, amount: '4.99' } },
      });
    }
  });

  it('returns its dispute', () => {
    const nonce = createPayment();
    const fetchPayment = () => callGateway(`transactions/${store.findPurchase(nonce)?.purchaseId}`);
    expect(fetchPayment()).toContain('<disputes type="array"></disputes>');
    store.runSteps(nonce, [['revoke']]);
    expect(fetchPayment()).toMatch(/<disputes type="array"><dispute><id>\w{16}<\/id>.*<status>lost<\/status>/);
  });

  it('rejects a second reversal', () => {
    const nonce = createPayment();
    store.runSteps(nonce, [['revoke']]);
    for (const action of ['revoke', 'refund'])
      expect(() => store.runSteps(nonce, [[action]])).toThrow('payment that can be reversed is not found');
    const other = createPayment();
    store.runSteps(other, [['refund']]);
    expect(() => store.runSteps(other, [['revoke']])).toThrow('payment that can be reversed is not found');
  });
});

describe('webhook of the emulated Braintree', () => {
  it('matches only the keys of its merchant', async () => {
    createSubscription();
    const [outgoing] = store.takePosted();
    if (outgoing === undefined) throw new Error('A webhook was expected');
    await expect(parseWebhook(outgoing, { privateKey: 'other' })).rejects.toThrow('signature does not match payload');
    await expect(parseWebhook(outgoing, { publicKey: 'other' })).rejects.toThrow('no matching public key');
    const forged = { ...outgoing, body: outgoing.body.replace('bt_payload=P', 'bt_payload=Q') };
    await expect(parseWebhook(forged)).rejects.toThrow('signature does not match payload');
  });

  it('contains a payload in lines of 60 characters', () => {
    createSubscription();
    const [outgoing] = store.takePosted();
    expect(outgoing?.buildHeaders(startTime)['content-type']).toBe('application/x-www-form-urlencoded');
    const payload = new URLSearchParams(outgoing?.body).get('bt_payload') ?? '';
    expect(payload).toMatch(/^(?:[A-Za-z0-9+/]{60}\n)+[A-Za-z0-9+/=]{1,60}\n$/);
  });

  it('defines hourly retries for three hours', () => {
    createSubscription();
    const [outgoing] = store.takePosted();
    expect(outgoing?.retryDelaysMs).toEqual([hourMs, hourMs, hourMs]);
    expect([199, 200, 204, 302, 403, 500].filter((status) => outgoing?.isDelivered(status))).toEqual([200, 204]);
  });
});
