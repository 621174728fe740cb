import * as v from 'valibot';

/** A message of the refresh queue: a purchase that is due. */
export const RefreshMessage = v.object({ appName: v.string(), purchaseId: v.string() });
export type RefreshMessage = v.InferOutput<typeof RefreshMessage>;
