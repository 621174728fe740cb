import * as v from 'valibot';
import { dayRange, describeObject, describeValue, pagingParameters, sandboxOnly } from '../api/describe.ts';
import { PagingInformation, pagingQuery, QueryDay } from '../api/paging.ts';
import { DateTime, EntitlementName, emptyAsAbsent, PlatformParam, PlatformToken, QueryFlag } from '../api/schemas.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';
import { countedUntilText, statsCommon } from './contract.ts';

export const figureCommon = {
  ...statsCommon,
  aliases: [],
  isLongRunning: true,
  permissions: [],
} as const;

/** Dimension of figures. */
export const FiguresDimension = v.picklist(['none', 'platform', 'product', 'country', 'entitlement']);
export type FiguresDimension = v.InferOutput<typeof FiguresDimension>;

/** Amounts of figures: before refunds, after refunds, or after refunds, commission and tax. */
export const FiguresAmount = v.picklist(['before_refunds', 'after_refunds', 'proceeds']);
export type FiguresAmount = v.InferOutput<typeof FiguresAmount>;

/**
 * Source of proceeds: reported by the store, computed with a table of rates, or both. `estimated` is `table` without
 * the tax of a payment.
 */
export const ProceedsSource = v.picklist(['store', 'table', 'estimated', 'mixed']);
export type ProceedsSource = v.InferOutput<typeof ProceedsSource>;

const CountryCode = v.pipe(v.string(), v.regex(/^[A-Z]{2}$/, 'an ISO 3166-1 code of two letters such as DE'));

/** The payments that figures count: those that match each filter. */
export const FigureFilters = v.strictObject({
  platform: v.exactOptional(PlatformToken),
  product: v.exactOptional(v.string()),
  country: v.exactOptional(CountryCode),
  entitlement: v.exactOptional(EntitlementName),
});
export type FigureFilters = v.InferOutput<typeof FigureFilters>;

export const figureQuery = {
  platform: emptyAsAbsent(PlatformParam),
  product: emptyAsAbsent(v.pipe(v.string(), v.transform(toNeutralId))),
  country: emptyAsAbsent(CountryCode),
  entitlement: emptyAsAbsent(EntitlementName),
  startdate: emptyAsAbsent(QueryDay),
  enddate: emptyAsAbsent(QueryDay),
  by: emptyAsAbsent(FiguresDimension),
  amount: emptyAsAbsent(FiguresAmount),
  sandbox: QueryFlag,
  ...pagingQuery,
};

export const figureHead = {
  /** The figures contain all payments and changes that were stored until then. */
  countedUntil: DateTime,
  by: FiguresDimension,
  /** The filters of the query. Absent without any. */
  filters: v.exactOptional(FigureFilters),
  amount: FiguresAmount,
  /** Present with `amount=proceeds`, unless payments are missing. */
  proceedsSource: v.exactOptional(ProceedsSource),
  /** Part of the payments whose currency lacks a rate: the amounts in US dollars lack them. */
  unconvertedShare: v.number(),
  /** The page of products, with `by=product`. `limit` can be less than requested. */
  products: v.exactOptional(PagingInformation),
};

/** Value of the dimension. */
const figureSegment = {
  platform: v.exactOptional(PlatformToken),
  productId: v.exactOptional(v.string()),
  /** ISO 3166-1 code of two letters. `ZZ` if the store does not report the country. */
  country: v.exactOptional(v.string()),
  entitlement: v.exactOptional(EntitlementName),
  unconvertedShare: v.number(),
};

/** Builds the schemas of figures with these members, and of their groups, which have the same members. */
export function defineFigures<H extends v.ObjectEntries, M extends v.ObjectEntries>(head: H, members: M) {
  const Group = v.strictObject({ ...figureSegment, ...members });
  const Figures = v.strictObject({ ...head, ...members, groups: v.exactOptional(v.array(Group)) });
  return { Group, Figures };
}

export const headTexts = {
  countedUntil: countedUntilText,
  by: ['The dimension.'],
  filters: ['The filters of the query. Absent without any.', { platform: 'store_a', country: 'DE' }],
  amount: ['The amounts.'],
  proceedsSource: ['Source of the proceeds. Present with `amount=proceeds`, unless there are no payments.'],
  unconvertedShare: [
    'Part of the payments whose currency has no exchange rate. Amounts in US dollars lack them.',
    0.02,
    'decimal',
  ],
  products: ['The page of products. Present with `by=product`; `limit` can be less than requested.'],
  groups: ['One group for each value of the dimension. Absent with `by=none`.'],
} as const;

export const segmentTexts = {
  platform: ['The platform. Present with `by=platform` and `by=product`.'],
  productId: ['The product with its platform prefix. Present with `by=product`.', 'store_a:premium'],
  country: ['ISO 3166-1 code of two letters; `ZZ` if unknown. Present with `by=country`.', 'DE'],
  entitlement: ['The entitlement. Present with `by=entitlement`.', 'premium'],
  unconvertedShare: ['Part of the payments whose currency has no exchange rate.', 0.02, 'decimal'],
} as const;

export const figureParameters = {
  ...dayRange,
  ...pagingParameters,
  platform: ['Counts this platform only. Filters combine, with any `by`.', 'store_a'],
  product: ['Counts this product only, by its id with the platform prefix.', 'store_a:premium'],
  country: ['Counts this country only: ISO 3166-1 code of two letters, or `ZZ` for payments without a country.', 'DE'],
  entitlement: ['Counts the products only that give this entitlement in the current catalogue.', 'premium'],
  by: ['Dimension of the groups. The default is `none`.', 'product'],
  amount: ['Amounts of the figures. The default is `after_refunds`.', 'after_refunds'],
  sandbox: sandboxOnly,
} as const;
export const totalsField = [
  'The whole range as one row, exact to a millionth: rows that are rounded to cents need not add up to it. Absent before the range starts.',
] as const;
export const figureRange = 'The default range is the last 12 months. The guide "Figures" has the definitions.';

export const figuresDescriptions = [
  describeObject('FigureFilters', FigureFilters, 'Filters of figures. A payment counts if it matches each of them.', {
    platform: ['The platform.'],
    product: ['The product with its platform prefix.', 'store_a:premium'],
    country: ['ISO 3166-1 code of two letters; `ZZ` if unknown.', 'DE'],
    entitlement: ['The entitlement.', 'premium'],
  }),
  describeValue('FiguresDimension', FiguresDimension, 'Dimension of figures.', 'product'),
  describeValue(
    'FiguresAmount',
    FiguresAmount,
    'Amounts of figures. `proceeds` are after refunds, and after commission and tax of the store.',
    'after_refunds',
  ),
  describeValue(
    'ProceedsSource',
    ProceedsSource,
    'Source of proceeds: reported by the store, computed with a table of rates (`estimated` if the tax of a payment is unknown), or both.',
    'table',
  ),
];
