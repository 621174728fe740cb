import type { ProductType } from '../../api/schemas.ts';
import type { Price, Product } from './payloads.ts';

/** Accepted values of `metadata.product_type`: the names that different client libraries use. */
const typesByMetadata: Readonly<Record<string, ProductType>> = {
  'paid subscription': 'paid subscription',
  subscription: 'paid subscription',
  'non renewing subscription': 'non renewing subscription',
  consumable: 'consumable',
  'non consumable': 'non consumable',
  non_consumable: 'non consumable',
};

/**
 * Returns the type in `metadata.product_type`. The default is a paid subscription for a recurring price, else a
 * consumable.
 */
export function toProductType(
  product: Pick<Product, 'metadata'> | undefined,
  price: Pick<Price, 'recurring'> | undefined,
): ProductType {
  const declaredType = typesByMetadata[product?.metadata?.product_type ?? ''];
  return declaredType ?? (price?.recurring ? 'paid subscription' : 'consumable');
}
