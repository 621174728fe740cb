/**
 * What support can do with a purchase at its store. `defer` and `extend` are the same action: stores use either name.
 */
export const actionNames = ['refund', 'cancel', 'revoke', 'defer', 'extend', 'finish', 'set-account'] as const;
export type ActionName = (typeof actionNames)[number];
