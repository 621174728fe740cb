import * as v from 'valibot';

/** A purchase to refresh. */
const PurchaseMessage = v.object({ appName: v.string(), purchaseId: v.string() });
export type PurchaseMessage = v.InferOutput<typeof PurchaseMessage>;

/** A message of the refresh queue: a purchase or a refund request that is due. */
export const RefreshMessage = v.union([
  PurchaseMessage,
  v.object({ appName: v.string(), refundRequestId: v.string() }),
]);
export type RefreshMessage = v.InferOutput<typeof RefreshMessage>;
