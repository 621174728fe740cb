import type { DefinitionId } from './definition-titles.ts';

/** Definition of a figure, in the words of docs/figures.md. */
interface Definition {
  readonly paragraphs: readonly string[];
  /** Services with another definition, and how it differs. */
  readonly differences: readonly (readonly [service: string, definition: string])[];
}

/** Fields of the API have the words of the page: `churnedMrrUSD` is churned MRR. */
export const toPageText = (text: string): string =>
  text.replace('interval=week', 'by week').replace(/\b[a-z]+(?:[A-Z][a-z]+)*(?:USD|Rate|Start)\b/g, (name) =>
    name
      .replace('USD', '')
      .replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
      .replace('mrr', 'MRR'),
  );

/** The main rules of each figure. A test compares them with docs/figures.md. */
export const definitions = {
  revenue: {
    paragraphs: [
      'grossUSD are the payments of the interval, refundsUSD the refunds that were made in it, also of earlier payments. proceedsUSD = grossUSD − refundsUSD − commissionUSD − taxUSD. A refund returns its part of the commission and of the tax on its own day, so that past days do not change and an interval can have less than nothing.',
      'Amounts are exact to a millionth: the rows of any interval (day, week, month, quarter or range) add up to the same sums.',
    ],
    differences: [],
  },
  mrr: {
    paragraphs: [
      'MRR = sum of the monthly amounts of all subscriptions with paid time at the end of the interval. ARR = 12 × MRR.',
      'Monthly amount: the price divided by the months of the period (1, 2, 3, 4, 6, 12, 24, 36; 28 days count as a month). A period of other length: price × 30.4375 ÷ days.',
      'MRR at the end = MRR at the start + new + expansion + reactivated − contraction − churned + exchange:',
      'Out: trials, free periods, grants, sandbox purchases, purchases that a family shares.',
    ],
    differences: [
      [
        'RevenueCat',
        'A week counts 4 times, a day 30 times. Movement is new and churned only: a resubscription lowers churned',
      ],
      ['RevenueCat v3', 'A product change and a resubscription are churned and new'],
      ['Stripe Billing', 'Subscriptions that are past due stay in. Tax is out. A temporary coupon does not lower MRR'],
      ['ChartMogul', 'Movement is by customer: a second subscription is expansion'],
    ],
  },
  churn: {
    paragraphs: [
      'churnRate = churned ÷ activeAtStart; revenueChurnRate = churnedMrrUSD ÷ MRR at the start. involuntary counts ends of subscriptions whose payment failed; all others are voluntary, unknown reasons included.',
      'Paid time that ends today counts as ended tomorrow, because the subscription can renew until then.',
    ],
    differences: [
      [
        'RevenueCat',
        'Resubscriptions are subtracted from the ended subscriptions, so churn can be negative. Revenue churn is missing',
      ],
      ['RevenueCat v3', 'A product change is churn. A resubscription is a new subscription'],
      [
        'Stripe Billing',
        'The denominator includes subscribers who are new in the 30 days. Revenue churn has downgrades',
      ],
      ['ChartMogul', 'Churn is by customer. Gross MRR churn includes contraction, net MRR churn subtracts expansion'],
    ],
  },
  retention: {
    paragraphs: [
      'The cohort of a subscription is the week or month of its first payment. It is active in period k if the middle of the period is paid: 15 days (3.5 days with interval=week) after k months (weeks) since its first payment.',
      'Index 0 is the size of the cohort. rate = active ÷ size. revenueUSD are the payments made in the period; one that is made up to three days (one day) early belongs to the next period.',
    ],
    differences: [
      [
        'RevenueCat',
        'A product change starts a new subscription. A payment in the period retains, grace does not. Lengths are apart, introductory offers out',
      ],
      ['RevenueCat v3', 'A resubscription starts a new subscription'],
      ['Stripe Billing', 'Retention is by subscriber'],
      ['ChartMogul', 'Cohorts are of customers'],
    ],
  },
  ltv: {
    paragraphs: [
      'Realized, not predicted. The cohort of a customer is the week or month in which the service stored the customer, or of the first payment if that is earlier (an import).',
      'revenuePerCustomerUSD of month k = all payments, one-time purchases included, until the end of the k-th month since then ÷ customers. revenuePerPayerUSD = the same ÷ payers, the customers with a payment. With by and filters, payments are those that match, payers the customers whose first payment matches, and customers all customers of the app.',
    ],
    differences: [
      ['RevenueCat', 'By days instead of months. Payers are the customers with a payment by then'],
      ['RevenueCat v3', 'A refund counts from its own day on'],
      ['Stripe Billing', 'Lifetime value is predicted: average revenue ÷ churn rate'],
      ['ChartMogul', 'Lifetime value is predicted: average revenue per account ÷ customer churn rate'],
    ],
  },
  conversion: {
    paragraphs: [
      'The cohort of a trial is the week or month in which it starts. converted counts the trials that a payment followed. A first payment that is refunded in full does not count. payerRate = payers ÷ customers.',
    ],
    differences: [
      ['RevenueCat', 'A trial is in the cohort of its customer. A payer whose payment is refunded does not count'],
      ['RevenueCat v3', 'A trial is in the cohort of its start. A payment after a lapse does not convert it'],
      ['Stripe Billing', 'The window is of trials that ended in 30 days. A later refund stays'],
      ['ChartMogul', 'The subscription starts with the paid plan; trials are leads'],
    ],
  },
  proceeds: {
    paragraphs: [
      'proceeds = price − refunds − tax − commission.',
      'Tax is what the store reports for the payment (taxMicros of a transaction: Stripe, Braintree, Google Play), or the taxPercent of a rate of the app.',
      "Google Play reports the developer's part of an order (developerRevenueInBuyerCurrency): it replaces the formula.",
      'The App Store and the Microsoft Store report no tax.',
    ],
    differences: [
      [
        'RevenueCat',
        "Taxes are estimated by country. Stripe's actual fees are subtracted. Rates follow the sales and the programs of the app",
      ],
    ],
  },
} as const satisfies Readonly<Record<DefinitionId, Definition>>;
