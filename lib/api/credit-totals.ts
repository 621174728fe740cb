import * as v from 'valibot';

/** The numbers of one credit of a customer: balance = granted - spent - takenBack - expired. */
export const CreditTotals = v.strictObject({
  balance: v.number(),
  granted: v.number(),
  spent: v.number(),
  takenBack: v.number(),
  expired: v.number(),
});

/** Credits by name. */
export const CreditTotalsByName = v.record(v.string(), CreditTotals);
export type CreditTotalsByName = v.InferOutput<typeof CreditTotalsByName>;

/** Descriptions and examples of the numbers. */
export const creditTotalTexts = {
  balance: ['What the customer can spend: `granted` - `spent` - `takenBack` - `expired`.', 60],
  granted: ['Units that payments and gifts gave.', 100],
  spent: ['Units that were spent or are held.', 40],
  takenBack: ['Units that refunds took back, or that were taken by hand.', 0],
  expired: ['Units that ended unspent.', 0],
} as const;
