import type { RequestContent } from '../lib/events/contract.ts';

/** Builds the content of an event. The lists that are not passed are empty. */
export const buildEventContent = (lists: Partial<RequestContent> = {}): RequestContent => ({
  products: [],
  purchases: [],
  transactions: [],
  claims: [],
  notifications: [],
  refreshFailures: [],
  exchangeRates: [],
  tags: {},
  ...lists,
});
