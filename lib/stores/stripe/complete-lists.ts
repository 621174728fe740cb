import pMap from 'p-map';
import type Stripe from 'stripe';
import { unavailableError } from './api-errors.ts';

/** Maximum page size of Stripe. @see https://docs.stripe.com/api/pagination */
export const pageSize = 100;

/** More objects than a customer has in practice. Bounds the duration of a request. */
const maxLength = 10_000;

/** Number of concurrent requests of one operation. Stripe limits the requests per second of an account. */
export const concurrency = 8;

/** Lists all pages. Throws `ConnectionFailed` for a longer list: a part of it would be taken for the whole. */
export async function listAll<T>(list: Stripe.ApiListPromise<T>): Promise<T[]> {
  const elements = await list.autoPagingToArray({ limit: maxLength });
  if (elements.length === maxLength) throw unavailableError(`A list has ${maxLength} elements or more.`);
  return elements;
}

type Lister = (stripe: Stripe, parentId: string) => Stripe.ApiListPromise<unknown>;

/**
 * The lists inside of other objects by their member, and the call that returns all of their elements. Stripe returns
 * the first ten elements inside of the object.
 *
 * @see https://docs.stripe.com/api/invoices/invoice_lines
 * @see https://docs.stripe.com/api/expanding_objects
 */
export const embeddedLists: Readonly<Record<string, Lister>> = {
  lines: (stripe, id) => stripe.invoices.listLineItems(id, { limit: pageSize }),
  payments: (stripe, invoice) => stripe.invoicePayments.list({ invoice, limit: pageSize }),
  items: (stripe, subscription) =>
    stripe.subscriptionItems.list({ subscription, limit: pageSize, expand: ['data.discounts'] }),
  line_items: (stripe, id) => stripe.checkout.sessions.listLineItems(id, { limit: pageSize }),
  refunds: (stripe, charge) => stripe.refunds.list({ charge, limit: pageSize }),
};

type Json = Readonly<Record<string, unknown>>;

/** Returns the object with all elements of the lists inside of it, at every level. */
export async function completeLists(value: unknown, stripe: Stripe): Promise<unknown> {
  if (!hasIncompleteList(value)) return value;
  if (Array.isArray(value)) return await pMap(value, (element) => completeLists(element, stripe), { concurrency });
  const parent = value as Json;
  const members = Object.entries(parent).map(async ([name, member]) => {
    const list = isIncomplete(member) ? embeddedLists[name] : undefined;
    if (!list) return [name, await completeLists(member, stripe)];
    const data = await listAll(list(stripe, String(parent.id)));
    return [name, { data: await completeLists(data, stripe), has_more: false }];
  });
  return Object.fromEntries(await Promise.all(members));
}

const isIncomplete = (value: unknown): boolean =>
  isObject(value) && Array.isArray(value.data) && value.has_more === true;

/** A list inside of the object, at any level, lacks elements. */
export const hasIncompleteList = (value: unknown): boolean =>
  isObject(value) && (isIncomplete(value) || Object.values(value).some(hasIncompleteList));

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;
