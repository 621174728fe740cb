import { beforeEach, describe, expect, it, test } from '@jest/globals';
import braintree from 'braintree';
import type { OutgoingNotification } from '../../emulator/outgoing-notification.ts';
import { processorB } from '../../emulator/processor-b/processor-b.ts';
import { startTime } from './emulator-client.ts';
import { type NotifyingStore, openNotifyingStore } from './notifying-store.ts';
import type { Step } from './random-histories.ts';

let store: NotifyingStore;
beforeEach(async () => {
  store = await openNotifyingStore(processorB);
});

const plan = { productId: 'monthly', type: 'paid subscription' } as const;

/** The webhook, as the official client believes it. */
async function webhookIn({ body }: OutgoingNotification, changes: object = {}) {
  const { merchantId, publicKey, privateKey } = store.settings as Record<string, string>;
  const keys = { merchantId: merchantId ?? '', publicKey: publicKey ?? '', privateKey: privateKey ?? '', ...changes };
  const gateway = new braintree.BraintreeGateway({ environment: braintree.Environment.Sandbox, ...keys });
  const form = new URLSearchParams(body);
  return await gateway.webhookNotification.parse(form.get('bt_signature') ?? '', form.get('bt_payload') ?? '');
}

const kindsOf = async (posted: readonly OutgoingNotification[]) =>
  (await Promise.all(posted.map((outgoing) => webhookIn(outgoing)))).map(({ kind }) => kind);

function ask(path: string, body?: object): string {
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

/** Buys a subscription with a nonce, as the service does; gives the nonce. */
function subscribe(order: object = {}): string {
  const nonce = store.placeOrder({ ...plan, ...order });
  ask('customers', { customer: { id: 'ann' } });
  ask('payment_methods', { payment_method: { customer_id: 'ann', payment_method_nonce: nonce, token: 'card' } });
  ask('subscriptions', { subscription: { id: 'mine', payment_method_token: 'card', plan_id: plan.productId } });
  return nonce;
}

const [active, charged] = ['subscription_went_active', 'subscription_charged_successfully'];

describe('a subscription', () => {
  it('is active and charged when it is bought', async () => {
    subscribe();
    expect(await kindsOf(store.takePosted())).toEqual([active, charged]);
  });

  it('is told of when its trial ends, not before', async () => {
    subscribe({ trial: 'P7D', autoRenew: true });
    expect(store.takePosted()).toEqual([]);
    store.advance('P7D');
    expect(await kindsOf(store.takePosted())).toEqual(['subscription_trial_ended', charged]);
  });

  test.each<[string, readonly Step[], readonly string[]]>([
    ['renews', [['renew']], [charged]],
    ['is cancelled', [['cancel']], ['subscription_canceled']],
    ['expires', [['expire']], ['subscription_expired']],
    ['is past due', [['fail-payment']], ['subscription_charged_unsuccessfully', 'subscription_went_past_due']],
    ['is paid late', [['fail-payment'], ['recover']], [active, charged]],
    ['is refunded without a word', [['refund']], []],
    ['is disputed', [['revoke']], ['dispute_opened', 'dispute_lost']],
    ['is tried with', [['test-notification']], ['check']],
  ])('%s', async (_what, steps, kinds) => {
    expect(await kindsOf(store.runSteps(subscribe(), steps))).toEqual(kinds);
  });

  it('that renews early is told of at once', async () => {
    const [outgoing] = store.runSteps(subscribe(), [['renew']]);
    expect(outgoing && (await webhookIn(outgoing)).timestamp).toBe(
      new Date(startTime).toISOString().replace('.000', ''),
    );
  });

  it('is shown as it was when it happened', async () => {
    const nonce = subscribe();
    const [failed] = store.runSteps(nonce, [['fail-payment']]);
    store.runSteps(nonce, ['P1D', ['recover'], ['cancel']]);
    expect(failed && (await webhookIn(failed))).toMatchObject({
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

describe('a single payment', () => {
  const pay = (): string => {
    const nonce = store.placeOrder({ productId: 'tip_jar', type: 'consumable' });
    const options = { submit_for_settlement: true };
    ask('transactions', { transaction: { type: 'sale', amount: '4.99', payment_method_nonce: nonce, options } });
    return nonce;
  };

  it('is told of only when it is disputed', async () => {
    const nonce = pay();
    expect(store.takePosted()).toEqual([]);
    const [opened, lost] = store.runSteps(nonce, [['revoke']]);
    const purchaseId = store.findPurchase(nonce)?.purchaseId;
    for (const [outgoing, status] of [
      [opened, 'open'],
      [lost, 'lost'],
    ] as const) {
      expect(outgoing && (await webhookIn(outgoing))).toMatchObject({
        dispute: { status, kind: 'chargeback', amount: '4.99', transaction: { id: purchaseId, amount: '4.99' } },
      });
    }
  });

  it('shows its dispute', () => {
    const nonce = pay();
    const shown = () => ask(`transactions/${store.findPurchase(nonce)?.purchaseId}`);
    expect(shown()).toContain('<disputes type="array"></disputes>');
    store.runSteps(nonce, [['revoke']]);
    expect(shown()).toMatch(/<disputes type="array"><dispute><id>\w{16}<\/id>.*<status>lost<\/status>/);
  });

  it('is disputed once, and not after it was given back', () => {
    const nonce = pay();
    store.runSteps(nonce, [['revoke']]);
    for (const action of ['revoke', 'refund'])
      expect(() => store.runSteps(nonce, [[action]])).toThrow('no payment to give');
    const other = pay();
    store.runSteps(other, [['refund']]);
    expect(() => store.runSteps(other, [['revoke']])).toThrow('no payment to give');
  });
});

describe('a webhook', () => {
  it('is believed with the keys of its merchant alone', async () => {
    subscribe();
    const [outgoing] = store.takePosted();
    if (outgoing === undefined) throw new Error('Nothing was posted');
    await expect(webhookIn(outgoing, { privateKey: 'other' })).rejects.toThrow('signature does not match payload');
    await expect(webhookIn(outgoing, { publicKey: 'other' })).rejects.toThrow('no matching public key');
    const forged = { ...outgoing, body: outgoing.body.replace('bt_payload=P', 'bt_payload=Q') };
    await expect(webhookIn(forged)).rejects.toThrow('signature does not match payload');
  });

  it('is a form whose payload has lines of sixty characters', () => {
    subscribe();
    const [outgoing] = store.takePosted();
    expect(outgoing?.buildHeaders(startTime)['content-type']).toBe('application/x-www-form-urlencoded');
    const payload = new URLSearchParams(outgoing?.body).get('bt_payload') ?? '';
    expect(payload).toMatch(/^(?:[A-Za-z0-9+/]{60}\n)+[A-Za-z0-9+/=]{1,60}\n$/);
  });

  it('is tried hourly for three hours, as in the sandbox, until the answer is a success', () => {
    subscribe();
    const [outgoing] = store.takePosted();
    expect(outgoing?.retryDelaysMs).toEqual([3_600_000, 3_600_000, 3_600_000]);
    expect([199, 200, 204, 302, 403, 500].filter((status) => outgoing?.isDelivered(status))).toEqual([200, 204]);
  });
});
