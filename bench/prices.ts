/** The price of a part of the bill. The tiers apply to the quantity of one month. The last tier is unlimited. */
export interface Price {
  /** Billed unit. */
  readonly unit: string;
  /** US dollars for each unit, with the end of each tier in units. */
  readonly tiers: readonly { readonly upTo: number; readonly usd: number }[];
}

const single = (unit: string, usd: number): Price => ({ unit, tiers: [{ upTo: Number.POSITIVE_INFINITY, usd }] });

const perMillion = (usd: number): number => usd / 1_000_000;
const billion = 1_000_000_000;

/** Traffic and logs are billed in GB; a tier of 10 TB ends at 10,240 GB. */
const terabyte = 1024;

/** Month in which the prices were compared with the pages of AWS and with their citations. */
export const pricesDate = '2026-06';
export const pricesRegion = 'us-east-1';

/** List prices without free tiers, savings plans and reserved capacity. The only place with prices. */
export const prices = {
  /** @see https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  tableWrites: single('write request unit', perMillion(0.625)),
  /** @see https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  tableReads: single('read request unit', perMillion(0.125)),
  /** @see https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  tableStorage: single('GB-month', 0.25),
  /** Point-in-time recovery. @see https://aws.amazon.com/dynamodb/pricing/on-demand/ */
  tableRecovery: single('GB-month', 0.2),
  /** arm64. @see https://aws.amazon.com/lambda/pricing/ */
  lambdaTime: {
    unit: 'GB-second',
    tiers: [
      { upTo: 7.5 * billion, usd: 0.0000133334 },
      { upTo: 18.75 * billion, usd: 0.0000120001 },
      { upTo: Number.POSITIVE_INFINITY, usd: 0.0000106667 },
    ],
  },
  /** @see https://aws.amazon.com/lambda/pricing/ */
  lambdaRequests: single('request', perMillion(0.2)),
  /** REST API. @see https://aws.amazon.com/api-gateway/pricing/ */
  apiRequests: {
    unit: 'request',
    tiers: [
      { upTo: 333_000_000, usd: perMillion(3.5) },
      { upTo: billion, usd: perMillion(2.8) },
      { upTo: 20 * billion, usd: perMillion(2.38) },
      { upTo: Number.POSITIVE_INFINITY, usd: perMillion(1.51) },
    ],
  },
  /** Standard queues. @see https://aws.amazon.com/sqs/pricing/ */
  queueRequests: {
    unit: 'request',
    tiers: [
      { upTo: 100 * billion, usd: perMillion(0.4) },
      { upTo: 200 * billion, usd: perMillion(0.3) },
      { upTo: Number.POSITIVE_INFINITY, usd: perMillion(0.24) },
    ],
  },
  /** Ingestion of Lambda logs. @see https://aws.amazon.com/cloudwatch/pricing/ */
  functionLogs: {
    unit: 'GB',
    tiers: [
      { upTo: 10 * terabyte, usd: 0.5 },
      { upTo: 30 * terabyte, usd: 0.25 },
      { upTo: 50 * terabyte, usd: 0.1 },
      { upTo: Number.POSITIVE_INFINITY, usd: 0.05 },
    ],
  },
  /** Ingestion of the access log. @see https://aws.amazon.com/cloudwatch/pricing/ */
  accessLogs: single('GB', 0.5),
  /** @see https://aws.amazon.com/cloudwatch/pricing/ */
  logStorage: single('GB-month', 0.03),
  /** To the internet. @see https://aws.amazon.com/ec2/pricing/on-demand/#Data_Transfer */
  egress: {
    unit: 'GB',
    tiers: [
      { upTo: 10 * terabyte, usd: 0.09 },
      { upTo: 50 * terabyte, usd: 0.085 },
      { upTo: 150 * terabyte, usd: 0.07 },
      { upTo: Number.POSITIVE_INFINITY, usd: 0.05 },
    ],
  },
  /** @see https://aws.amazon.com/secrets-manager/pricing/ */
  secrets: single('secret-month', 0.4),
  /** @see https://aws.amazon.com/secrets-manager/pricing/ */
  secretRequests: single('request', 0.05 / 10_000),
  /** Metrics of standard-resolution alarms. @see https://aws.amazon.com/cloudwatch/pricing/ */
  alarmMetrics: single('metric-month', 0.1),
  /** Custom metrics. Metered in the hours in which they have data. @see https://aws.amazon.com/cloudwatch/pricing/ */
  customMetrics: {
    unit: 'metric-month',
    tiers: [
      { upTo: 10_000, usd: 0.3 },
      { upTo: Number.POSITIVE_INFINITY, usd: 0.1 },
    ],
  },
  /** @see https://aws.amazon.com/cloudwatch/pricing/ */
  dashboards: single('dashboard-month', 3),
} as const satisfies Record<string, Price>;

export type PriceName = keyof typeof prices;

/** Billed quantities by price. Absent: nothing. */
export type Quantities = { readonly [name in PriceName]?: number };

const priceNames = Object.keys(prices) as PriceName[];

/** Adds quantities. */
export function addQuantities(...parts: readonly Quantities[]): Quantities {
  const totals = priceNames.map((name) => [name, parts.reduce((sum, part) => sum + (part[name] ?? 0), 0)] as const);
  return Object.fromEntries(totals.filter(([, total]) => total !== 0));
}

/** Multiplies all quantities. */
export const scaleQuantities = (quantities: Quantities, factor: number): Quantities =>
  Object.fromEntries(Object.entries(quantities).map(([name, quantity]) => [name, quantity * factor]));

/** Returns the dollars of a quantity within one month: each tier applies to its part of the quantity. */
export function computeDollars({ tiers }: Price, quantity: number): number {
  let dollars = 0;
  let tierStart = 0;
  for (const { upTo, usd } of tiers) {
    dollars += Math.max(0, Math.min(quantity, upTo) - tierStart) * usd;
    tierStart = upTo;
  }
  return dollars;
}

/** Returns the dollars of each quantity within one month. */
export const computeBill = (quantities: Quantities): Quantities =>
  Object.fromEntries(
    Object.entries(quantities).map(([name, quantity]) => [name, computeDollars(prices[name as PriceName], quantity)]),
  );

/** Adds the dollars of a bill. */
export const sumBill = (bill: Quantities): number => Object.values(bill).reduce((total, dollars) => total + dollars, 0);
