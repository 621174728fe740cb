import { withoutPlatform } from '../foundation/platform.ts';
import { toNeutralId } from '../foundation/vocabulary.ts';

/** The requested id can lack the platform prefix. */
export const matchesProduct = (productId: string, requested: string): boolean =>
  productId === toNeutralId(requested) || withoutPlatform(productId) === requested;
