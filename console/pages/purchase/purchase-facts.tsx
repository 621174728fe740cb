import type { ComponentChildren } from 'preact';
import type { ContractResponse } from '../../../lib/api/contract.ts';
import type { PurchaseDetails } from '../../../lib/purchases/purchase-contract.ts';
import type { getPurchaseTimeline } from '../../../lib/purchases/timeline-contract.ts';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { DateTime, Money, Usd } from '../../components/values.tsx';
import { formatPlatform, formatProductId } from '../../format.ts';

interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly source: string;
  /** ISO 8601. Undefined: computed now. */
  readonly asOf?: string | undefined;
}

interface PurchaseFactsProps {
  readonly purchase: PurchaseDetails;
  /** Times of the store's reports. Undefined while they are loading. */
  readonly timeline: ContractResponse<typeof getPurchaseTimeline> | undefined;
}

/** The facts of a purchase, each with its source and its age. */
export const PurchaseFacts = ({ purchase, timeline }: PurchaseFactsProps) => (
  <DataTable
    isOfRecords
    caption="Facts of the purchase"
    columns={columns}
    rows={[...listFacts(purchase, timeline?.asOf), ...listServiceFacts(timeline)]}
    getKey={({ name }) => name}
    empty={undefined}
  />
);

const columns: readonly Column<Fact>[] = [
  { title: 'Fact', render: ({ name }) => name },
  { title: 'Value', render: ({ value }) => value },
  { title: 'Source', render: ({ source }) => <span class="quiet">{source}</span> },
  {
    title: 'Age',
    render: ({ asOf }) => (
      <span class="quiet">{asOf === undefined ? 'now' : <DateTime value={asOf} kind="relative" />}</span>
    ),
  },
];

/** Flags that the store reports, with their names. */
const flags = [
  ['isTrialPeriod', 'Free trial'],
  ['isIntroPeriod', 'Introductory price'],
  ['isBillingRetryPeriod', 'Payment failing'],
  ['isPaused', 'Paused'],
  ['isPending', 'Payment pending'],
  ['isAcknowledged', 'Acknowledged'],
  ['isConsumed', 'Consumed'],
  ['isSharedPurchase', 'Family sharing'],
  ['sandbox', 'Sandbox'],
] as const satisfies readonly (readonly [keyof PurchaseDetails, string])[];

const renewalIntents = { Renew: 'Renews', Lapse: 'Does not renew' } as const;
const consents = { Agreed: 'Agreed', Notified: 'Notified, not agreed' } as const;

/** Lists the facts that are present. `reportedAt` is the time up to which the reports of the store are complete. */
function listFacts(purchase: PurchaseDetails, reportedAt: string | undefined): Fact[] {
  const store = { source: formatPlatform(purchase.platform), asOf: reportedAt };
  const service = { source: 'This service' };
  const dates = [
    ['Purchased', purchase.purchaseDate],
    ['Last renewed', purchase.lastRenewalDate],
    ['Access until', purchase.expirationDate],
    ['Resumes', purchase.autoResumeDate],
  ] as const;
  const { renewalIntent, priceConsentStatus, amountUSD, currency, amountMicros } = purchase;
  return [
    { name: 'Product', value: formatProductId(purchase.productId), ...store },
    ...dates.flatMap(([name, date]) =>
      date === undefined ? [] : [{ name, value: <DateTime value={date} />, ...store }],
    ),
    ...(renewalIntent === undefined
      ? []
      : [
          {
            name: 'Renewal',
            value: renewalIntents[renewalIntent],
            ...store,
            asOf: purchase.renewalIntentChangeDate ?? reportedAt,
          },
        ]),
    ...(purchase.cancelationReason === undefined
      ? []
      : [{ name: 'Cause of the end', value: purchase.cancelationReason, ...store }]),
    ...flags.flatMap(([field, name]) => {
      const flag = purchase[field];
      return flag === undefined ? [] : [{ name, value: flag ? 'Yes' : 'No', ...store }];
    }),
    ...(priceConsentStatus === undefined
      ? []
      : [{ name: 'Price increase', value: consents[priceConsentStatus], ...store }]),
    ...(purchase.discountId === undefined ? [] : [{ name: 'Discount', value: purchase.discountId, ...store }]),
    ...(purchase.quantity === undefined ? [] : [{ name: 'Quantity', value: purchase.quantity, ...store }]),
    ...(amountMicros == null
      ? []
      : [{ name: 'Latest amount', value: <Money amountMicros={amountMicros} currency={currency} />, ...store }]),
    ...(amountUSD == null || currency === 'USD'
      ? []
      : [
          {
            name: 'In US dollars',
            value: <Usd amount={amountUSD} />,
            source: 'Exchange rate of the purchase date',
            asOf: purchase.lastRenewalDate ?? purchase.purchaseDate,
          },
        ]),
    ...(purchase.isExpired === undefined
      ? []
      : [{ name: 'Expired', value: purchase.isExpired ? 'Yes' : 'No', ...service }]),
    { name: 'Owners', value: purchase.entitledUsers.length, source: 'Claims of customers' },
  ];
}

/** Lists how the service keeps the purchase up to date. */
function listServiceFacts(timeline: PurchaseFactsProps['timeline']): Fact[] {
  if (!timeline) return [];
  const { checkedAt, nextRefreshAt, failedRefreshes, lastRefreshAt, canRefresh } = timeline;
  const source = 'This service';
  return [
    { name: 'Store reported last', value: <DateTime value={checkedAt} />, source, asOf: checkedAt },
    {
      name: 'Next refresh',
      value:
        nextRefreshAt === undefined ? (
          canRefresh ? (
            'None planned'
          ) : (
            'Only by clients and notifications'
          )
        ) : (
          <DateTime value={nextRefreshAt} />
        ),
      source,
    },
    ...(failedRefreshes > 0 ? [{ name: 'Failed refreshes', value: failedRefreshes, source, asOf: lastRefreshAt }] : []),
  ];
}
