import { withoutPlatform } from '../foundation/platform.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';

/** Whether a product has the requested id, which can lack the platform prefix. */
export const matchesProduct = (productId: string, requested: string): boolean =>
  productId === toNeutralId(requested) || withoutPlatform(productId) === requested;
