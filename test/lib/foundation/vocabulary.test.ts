import { describe, expect, it } from '@jest/globals';
import { platforms } from '../../../lib/foundation/platform.ts';
import {
  applyVocabulary,
  isBrandPath,
  resolveTransactionType,
  toNeutralId,
  toValidatorPlatform,
} from '../../../lib/foundation/vocabulary.ts';

describe('vocabulary', () => {
  it.each([
    ['apple:1', 'store_a:1'],
    ['google:tok:product', 'store_b:tok:product'],
    ['windows:x', 'store_c:x'],
    ['stripe:sub_1', 'processor_a:sub_1'],
    ['iaptic:sub_1', 'service_processor_a:sub_1'],
    ['braintree:1', 'processor_b:1'],
    ['store_a:1', 'store_a:1'],
    ['applesauce:1', 'applesauce:1'],
    ['apple', 'apple'],
  ])('converts the id %s to the neutral id %s', (id, neutral) => {
    expect(toNeutralId(id)).toBe(neutral);
  });

  it('converts only ids, platforms and the keys of purchases to brand tokens', () => {
    const result = {
      applicationUsername: 'store_a:bob',
      purchases: { 'store_a:p': { productId: 'store_a:p', platform: 'store_a', discountId: 'store_a:x' } },
      rows: [{ purchaseId: 'processor_a:sub_1', offerId: null }],
    };
    expect(applyVocabulary(result, 'brand')).toEqual({
      applicationUsername: 'store_a:bob',
      purchases: { 'apple:p': { productId: 'apple:p', platform: 'apple', discountId: 'store_a:x' } },
      rows: [{ purchaseId: 'stripe:sub_1', offerId: null }],
    });
    expect(applyVocabulary(result, 'neutral')).toBe(result);
  });

  it('converts each brand id back to the neutral id', () => {
    for (const platform of platforms) {
      const { productId } = applyVocabulary({ productId: `${platform}:x` }, 'brand');
      expect(toNeutralId(productId)).toBe(`${platform}:x`);
    }
  });

  it.each([
    ['ios-appstore', 'store_a', 'brand'],
    ['ios-store', 'store_a', 'neutral'],
    ['android-playstore', 'store_b', 'brand'],
    ['store_c-transaction', 'store_c', 'neutral'],
    ['stripe-charge', 'processor_a', 'brand'],
    ['braintree', 'processor_b', 'brand'],
    ['iaptic', 'processor_a', 'brand'],
  ])('resolves platform and vocabulary of the transaction type %s', (type, platform, vocabulary) => {
    expect(resolveTransactionType({ type })).toEqual({ platform, vocabulary });
  });

  it('resolves a signed representation of an unknown type to the App Store, and no other unknown type', () => {
    expect(resolveTransactionType({ type: 'new-one', jwsRepresentation: 'eyJ' })?.platform).toBe('store_a');
    expect(resolveTransactionType({ type: 'constructor' })).toBeUndefined();
    expect(resolveTransactionType({ type: '__proto__' })).toBeUndefined();
  });

  it('recognizes a brand path by a whole segment', () => {
    expect(isBrandPath('/v3/stripe/prices')).toBe(true);
    expect(isBrandPath('/v3/processor_a/prices')).toBe(false);
  });

  it('returns the platform that clients of validations expect', () => {
    expect(toValidatorPlatform('store_a', 'brand')).toBe('ios-appstore');
    expect(toValidatorPlatform('store_a', 'neutral')).toBe('store_a');
  });
});
