import { createGuide } from '../proof-step.ts';

const types = 'https://docs.stripe.com/billing/subscriptions/webhooks';
const testing = 'https://docs.stripe.com/billing/testing';

/** Test mode of Stripe. Test clocks move the time of a subscription. */
export const stripeGuide = createGuide({
  preparations: [
    'Stripe dashboard: use the keys of a sandbox or of test mode in the settings of the app.',
    'Stripe dashboard, Workbench, Webhooks: an endpoint with all events, in the same mode.',
    'Stripe dashboard, Billing, Subscriptions, Test clocks: create a test clock for the customer.',
  ],
  steps: {
    buy: {
      instruction: 'Buy a subscription on the site with the card 4242 4242 4242 4242 as a new customer.',
      document: types,
      notifications: [
        'customer.subscription.created',
        'checkout.session.completed',
        'invoice.paid',
        'invoice.payment_succeeded',
      ],
    },
    renew: {
      instruction: 'Advance the test clock to the next period.',
      document: testing,
      notifications: ['invoice.paid', 'invoice.payment_succeeded', 'customer.subscription.updated'],
      isAutomatic: false,
    },
    grace: {
      instruction: 'Set the card 4000 0000 0000 0341 as the default payment method, and advance the test clock.',
      document: testing,
      notifications: ['invoice.payment_failed', 'customer.subscription.updated'],
    },
    recover: {
      instruction: 'Set the card 4242 4242 4242 4242 again, and pay the open invoice in the dashboard.',
      document: types,
      notifications: ['invoice.paid', 'invoice.payment_succeeded', 'customer.subscription.updated'],
    },
    cancel: {
      instruction: 'Stripe dashboard, Subscriptions: cancel the subscription at the end of the period.',
      document: types,
      notifications: ['customer.subscription.updated'],
    },
    restore: {
      instruction: 'Sign in to the site as a second customer, and submit the same purchase.',
      document: 'https://docs.stripe.com/api/subscriptions/object',
    },
    refund: {
      instruction: 'Stripe dashboard, Payments: refund the latest payment in full.',
      document: 'https://docs.stripe.com/refunds',
      notifications: ['charge.refunded', 'refund.created', 'refund.updated', 'charge.refund.updated'],
    },
  },
});
