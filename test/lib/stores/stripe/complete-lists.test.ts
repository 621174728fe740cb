import { describe, expect, it } from '@jest/globals';
import type { StoreFetchOptions, StoreResponse } from '../../../../lib/stores/store-context.ts';
import { completeLists, embeddedLists, listAll } from '../../../../lib/stores/stripe/complete-lists.ts';
import * as payloads from '../../../../lib/stores/stripe/payloads.ts';
import { callStripe, createStripeClient } from '../../../../lib/stores/stripe/stripe-client.ts';
import * as queries from '../../../../lib/stores/stripe/stripe-queries.ts';
import { stoppedStopwatch } from '../../../../testing/stopwatch.ts';
import { givenCharge, givenInvoice, givenSession, givenSubscription } from './stripe-fixtures.ts';

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Lists the members of a schema that are lists of Stripe, at every level. */
function listListMembers(schema: unknown, name = '', visited = new Set<unknown>()): string[] {
  if (!isObject(schema) || visited.has(schema)) return [];
  visited.add(schema);
  const { entries } = schema;
  const isList = isObject(entries) && 'data' in entries && 'has_more' in entries;
  const inEntries = isObject(entries)
    ? Object.entries(entries).flatMap(([member, entry]) => listListMembers(entry, member, visited))
    : [];
  const { item, wrapped, options, pipe } = schema;
  const inside = [item, wrapped, ...(Array.isArray(options) ? options : []), ...(Array.isArray(pipe) ? pipe : [])];
  return [...(isList ? [name] : []), ...inEntries, ...inside.flatMap((part) => listListMembers(part, name, visited))];
}

const schemas = Object.values(payloads).filter((value) => isObject(value) && 'kind' in value);

/** Cuts every list of an object, and its embedded objects, to its first element. */
const cut = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(cut);
  if (!isObject(value)) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cut(member)]));
  const { data } = copy;
  return Array.isArray(data) ? { object: 'list', data: data.slice(0, 1), has_more: true, url: '/v1/list' } : copy;
};

const idsByPath: Readonly<Record<string, string>> = {
  '/lines': 'lines',
  '/line_items': 'line_items',
  '/invoice_payments': 'payments',
  '/subscription_items': 'items',
  '/refunds': 'refunds',
};

/** Creates a client of an account that returns each object cut, and two pages of each embedded list. */
function createClient(object: unknown, elements: Readonly<Record<string, unknown>>) {
  const fetch = async (url: string, _init?: StoreFetchOptions): Promise<StoreResponse> => {
    const { pathname, searchParams } = new URL(url);
    const member = Object.entries(idsByPath).find(([end]) => pathname.endsWith(end))?.[1];
    const isList = /\/(invoices|subscriptions|charges|sessions)$/.test(pathname);
    const page = (index: number) => ({
      object: 'list',
      data: [{ ...(elements[member ?? ''] as Json), id: `element_${index}` }],
      has_more: index < 3,
      url: pathname,
    });
    const after = Number(searchParams.get('starting_after')?.slice('element_'.length) ?? 0);
    const list = { object: 'list', data: [cut(object)], has_more: false, url: pathname };
    return {
      status: 200,
      headers: {},
      text: JSON.stringify(member === undefined ? (isList ? list : cut(object)) : page(after + 1)),
    };
  };
  return createStripeClient({ settings: { secretKey: 'sk_test_account' }, fetch, stopwatch: stoppedStopwatch });
}

describe('lists inside of objects of Stripe', () => {
  it('come with a request that completes them, whichever a schema reads', () => {
    const members = new Set(schemas.flatMap((schema) => listListMembers(schema)));
    expect([...members].sort()).toEqual(Object.keys(embeddedLists).sort());
  });

  const invoice = givenInvoice();
  const charge = { ...givenCharge(), refunds: { data: [{ id: 're_1', amount: 1, created: 1, status: 'succeeded' }] } };
  const subscription = { ...givenSubscription(), latest_invoice: invoice };
  const session = givenSession();
  const paidSession = {
    ...session,
    payment_intent: { ...(session.payment_intent as object), latest_charge: charge },
  };
  const elements = {
    lines: invoice.lines.data[0],
    payments: invoice.payments.data[0],
    items: subscription.items.data[0],
    line_items: session.line_items?.data[0],
    refunds: charge.refunds.data[0],
  };

  it.each<[string, unknown, (stripe: ReturnType<typeof createClient>) => Promise<unknown>]>([
    ['fetchSubscription', subscription, (stripe) => queries.fetchSubscription(stripe, 'sub_1')],
    ['listSubscriptions', subscription, (stripe) => queries.listSubscriptions(stripe, 'cus_1')],
    ['listInvoices', invoice, (stripe) => queries.listInvoices(stripe, { customer: 'cus_1' })],
    ['listCharges', charge, (stripe) => queries.listCharges(stripe, 'cus_1')],
    ['fetchCharge', charge, (stripe) => queries.fetchCharge(stripe, 'ch_1')],
    ['fetchSession', paidSession, (stripe) => queries.fetchSession(stripe, 'cs_1')],
    ['listSessions', paidSession, (stripe) => queries.listSessions(stripe, { customer: 'cus_1' })],
    ['fetchPaymentIntent', paidSession.payment_intent, (stripe) => queries.fetchPaymentIntent(stripe, 'pi_1')],
  ])('become complete in the result of %s', async (_query, object, read) => {
    const lengths: number[] = [];
    JSON.stringify(await read(createClient(object, elements)), (_name, value) => {
      if (isObject(value) && Array.isArray(value.data) && 'has_more' in value) lengths.push(value.data.length);
      return value;
    });
    expect(lengths.length).toBeGreaterThan(0);
    expect(new Set(lengths)).toEqual(new Set([3]));
  });

  it('never count as complete while elements are missing', () => {
    expect(() => payloads.parseStripeObject(payloads.Invoice, cut(invoice))).toThrow('Stripe is unavailable');
  });

  it('keep an object without a missing element as it is', async () => {
    const complete = { ...invoice, amount: 1n };
    expect(await completeLists(complete, createClient(invoice, elements))).toBe(complete);
  });
});

describe('listAll', () => {
  it('rejects a list that is longer than its limit instead of a part of it', async () => {
    const data = Array.from({ length: 10_000 }, (_, index) => ({ id: `price_${index}` }));
    const text = JSON.stringify({ object: 'list', data, has_more: true, url: '/v1/prices' });
    const fetch = async (): Promise<StoreResponse> => ({ status: 200, headers: {}, text });
    const stripe = createStripeClient({
      settings: { secretKey: 'sk_test_account' },
      fetch,
      stopwatch: stoppedStopwatch,
    });
    await expect(callStripe(() => listAll(stripe.prices.list()))).rejects.toMatchObject({ code: 'ConnectionFailed' });
  });
});
