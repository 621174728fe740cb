import { describe, expect, it } from '@jest/globals';
import { platforms } from '../../../lib/shared/platform.ts';
import {
  applyVocabulary,
  isBrandPath,
  resolveTransactionType,
  toNeutralId,
  toValidatorPlatform,
} from '../../../lib/shared/vocabulary.ts';

describe('the vocabulary', () => {
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
  ])('reads the id %s as %s', (spoken, neutral) => {
    expect(toNeutralId(spoken)).toBe(neutral);
  });

  it('writes ids, platforms and the keys of purchases in brand words, and nothing else', () => {
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

  it('turns every brand id back into the neutral one', () => {
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
  ])('knows whose a transaction of type %s is', (type, platform, vocabulary) => {
    expect(resolveTransactionType({ type })).toEqual({ platform, tongue: vocabulary });
  });

  it('takes a signed representation for store_a whatever its type says, and nothing unknown for anything', () => {
    expect(resolveTransactionType({ type: 'new-one', jwsRepresentation: 'eyJ' })?.platform).toBe('store_a');
    expect(resolveTransactionType({ type: 'constructor' })).toBeUndefined();
    expect(resolveTransactionType({ type: '__proto__' })).toBeUndefined();
  });

  it('knows brand paths by a whole segment', () => {
    expect(isBrandPath('/v3/stripe/prices')).toBe(true);
    expect(isBrandPath('/v3/processor_a/prices')).toBe(false);
  });

  it('words the platform of a validation as its clients do', () => {
    expect(toValidatorPlatform('store_a', 'brand')).toBe('ios-appstore');
    expect(toValidatorPlatform('store_a', 'neutral')).toBe('store_a');
  });
});
