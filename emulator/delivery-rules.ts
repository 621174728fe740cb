import * as v from 'valibot';
import { Period } from './calendar.ts';

/** How the next notifications are to be delivered, by the body of `POST /control/notifications`. */
export const DeliveryRule = v.strictObject({
  /** Absent for the notifications of every store. */
  platform: v.exactOptional(v.string()),
  /** For how many notifications; absent until the orders are cleared. */
  next: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  /** How many copies are sent. */
  times: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5))),
  /** How long after the change they are sent, on the emulated clock. */
  delayed: v.exactOptional(Period),
  /** Kept until they are released. */
  held: v.exactOptional(v.boolean()),
});
export type DeliveryRule = Readonly<v.InferOutput<typeof DeliveryRule>>;

/** The orders that still apply, the earliest first. */
export interface DeliveryRules {
  readonly add: (order: DeliveryRule) => void;
  /** The order for a notification that is sent now, which counts as one of its `next`. */
  readonly consume: (platform: string) => DeliveryRule;
  readonly list: () => readonly DeliveryRule[];
  readonly clear: () => void;
}

/** No orders yet: everything is sent once and at once. */
export function createDeliveryRules(): DeliveryRules {
  let orders: readonly DeliveryRule[] = [];
  return {
    list: () => orders,
    add: (order) => {
      orders = [...orders, order];
    },
    consume: (platform) => {
      const order = orders.find((one) => (one.platform ?? platform) === platform);
      if (order === undefined) return {};
      orders = orders.flatMap((one) => (one === order ? consumeOne(one) : [one]));
      return order;
    },
    clear: () => {
      orders = [];
    },
  };
}

function consumeOne(order: DeliveryRule): DeliveryRule[] {
  if (order.next === undefined) return [order];
  return order.next > 1 ? [{ ...order, next: order.next - 1 }] : [];
}
