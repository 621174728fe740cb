import type { Contract } from './contract.ts';

/** Descriptions of the areas, in the order of the document. */
export const tagDescriptions: Readonly<Record<Contract['area'], string>> = {
  validation: 'Validation of receipts, called by apps with the public key.',
  customers: 'Customers with their purchases, called by your server.',
  entitlements: 'What customers have access to, over all stores: named entitlements, grants and tokens.',
  credits: 'Credits that payments give, and their balances.',
  purchases: 'Purchases with the customers who own them.',
  refunds: 'Requests of the App Store and Google Play for statements about refunds.',
  transactions: 'Payments that start or renew purchases.',
  stats: 'Revenue, subscriptions and trials by time.',
  events: 'Log of every request, store notification and webhook.',
  search: 'Search for support.',
  webhooks: 'Webhooks to your server, their deliveries and replays.',
  stripe: 'Sales through Stripe.',
  braintree: 'Sales through Braintree.',
  app: 'Settings of the app.',
  stores: 'Connection to the stores.',
  due: 'Late and failed work.',
  service: 'The service itself.',
};
