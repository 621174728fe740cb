import { withoutPlatform } from '../../foundation/platform.ts';
import type { Observation } from '../../purchases/observation.ts';
import { isOrderOfOtherToken } from './order-lines.ts';
import { listEarlierOrderIds } from './past-orders.ts';
import type { LineItem, Order } from './payloads.ts';
import type { PlayApi } from './play-api.ts';

/** The orders of the items of a subscription. */
export interface ItemOrders {
  /** The latest order by product. */
  readonly orders: ReadonlyMap<string, Order>;
  /** The latest and the earlier orders by id. The latest order of an item can be an earlier one of another item. */
  readonly allOrders: ReadonlyMap<string, Order>;
  /** Products whose latest order paid for a replaced purchase. */
  readonly productsPaidBefore: ReadonlySet<string>;
}

interface OrderContext {
  readonly token: string;
  readonly play: PlayApi;
  /** The purchases of the replaced tokens. */
  readonly replaced: readonly Observation[];
}

/**
 * Fetches the latest and the earlier orders of the items. Leaves out the orders of a different token: an item that a
 * plan change keeps has the order that the replaced purchase paid for, and the payment must not count twice.
 */
export async function fetchItemOrders(
  items: readonly LineItem[],
  { token, play, replaced }: OrderContext,
): Promise<ItemOrders> {
  const fetched = new Map<string, Order>();
  const orders = new Map<string, Order>();
  const productsPaidBefore = new Set<string>();
  const latestIds = new Set(items.map((item) => item.latestSuccessfulOrderId).filter((id) => id !== undefined));
  for (const latestId of latestIds) {
    for (const [orderId, order] of await play.fetchOrders([...listEarlierOrderIds(latestId), latestId]))
      fetched.set(orderId, order);
  }
  for (const { productId, latestSuccessfulOrderId: orderId } of items) {
    const order = fetched.get(orderId ?? '');
    const isPaidBefore = order
      ? isOrderOfOtherToken(order, token)
      : replaced.some((observation) => hasPayment(observation, productId, orderId));
    if (isPaidBefore) productsPaidBefore.add(productId);
    else if (order) orders.set(productId, order);
  }
  const ownOrders = [...fetched].filter(([, order]) => !isOrderOfOtherToken(order, token));
  return { orders, allOrders: new Map(ownOrders), productsPaidBefore };
}

const hasPayment = ({ purchase, transactions }: Observation, productId: string, orderId: string | undefined): boolean =>
  withoutPlatform(purchase.productId) === productId &&
  transactions.some(({ transactionId }) => withoutPlatform(transactionId) === orderId);
