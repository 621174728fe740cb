import { formatCountry, formatPlatform, formatProductId } from '../../format.ts';
import type { Range } from '../periods.ts';

/** Value of the dimension of figures. */
export interface Segment {
  readonly platform?: string;
  readonly productId?: string;
  readonly country?: string;
  readonly entitlement?: string;
}

/** Key of a segment in the link. */
export const toSegmentKey = ({ platform, productId, country, entitlement }: Segment): string =>
  [platform, productId, country, entitlement].filter((value) => value !== undefined).join('|');

/** Name of a segment without its store. */
export const formatSegment = ({ platform = '', productId, country, entitlement }: Segment): string => {
  if (productId !== undefined) return formatProductId(productId);
  if (country !== undefined) return formatCountry(country);
  return entitlement ?? formatPlatform(platform);
};

/** Name of a segment: a product with its store. */
export const describeSegment = (segment: Segment): string =>
  segment.productId === undefined
    ? formatSegment(segment)
    : `${formatSegment(segment)}, ${formatPlatform(segment.platform ?? '')}`;

/** The filters of a segment in the link. A product has its store. */
export const toFilters = ({ platform, productId: product, country, entitlement }: Segment) => ({
  ...(product === undefined ? { platform } : { product }),
  country,
  entitlement,
});

/** Rows behind a figure: payments of the days, or customers with a subscription that the figure counts. */
export type RowsKind = 'payments' | 'active' | 'lapsed' | 'trial';

/** Returns the page of the rows behind a figure, with its filters. Customers have no days; payments no entitlement. */
export function toRowsLink(
  kind: RowsKind,
  { platform, productId, entitlement }: Segment,
  { first, last }: Range,
): { readonly to: string; readonly query: Readonly<Record<string, string | undefined>> } {
  const filters = { platform, product: productId, entitlement };
  if (kind === 'payments' && entitlement === undefined)
    return { to: '/transactions', query: { from: first, to: last, platform, product: productId } };
  return { to: '/customers', query: kind === 'payments' ? filters : { state: kind, ...filters } };
}
