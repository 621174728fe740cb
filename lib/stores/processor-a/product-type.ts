import type { ProductType } from '../../api/enumerations.ts';
import type { Price, Product } from './payloads.ts';

/** Sellers write the type with the words of several clients. */
const typesByMetadata: Readonly<Record<string, ProductType>> = {
  'paid subscription': 'paid subscription',
  subscription: 'paid subscription',
  'non renewing subscription': 'non renewing subscription',
  consumable: 'consumable',
  'non consumable': 'non consumable',
  non_consumable: 'non consumable',
};

/** `metadata.product_type` where it says one; else what recurs is a paid subscription and what does not a consumable. */
export function toProductType(
  product: Pick<Product, 'metadata'> | undefined,
  price: Pick<Price, 'recurring'> | undefined,
): ProductType {
  const declaredType = typesByMetadata[product?.metadata?.product_type ?? ''];
  return declaredType ?? (price?.recurring ? 'paid subscription' : 'consumable');
}
