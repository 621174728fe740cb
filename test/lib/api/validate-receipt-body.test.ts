import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { ValidateReceiptBody } from '../../../lib/api/validate-receipt-body.ts';

const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store' } };
const usernameOf = (additionalData: unknown) =>
  v.parse(ValidateReceiptBody, { ...body, additionalData }).additionalData?.applicationUsername;

describe('the user of a validation', () => {
  it.each([[undefined], [null], [{}], [{ applicationUsername: null }], [{ applicationUsername: '' }]])(
    'is nobody in %j, as clients without one send it',
    (additionalData) => {
      expect(usernameOf(additionalData)).toBeUndefined();
    },
  );

  it.each([
    ['ann', 'ann'],
    [42, '42'],
  ])('sent as %j is the text %s', (applicationUsername, text) => {
    expect(usernameOf({ applicationUsername })).toBe(text);
  });

  it.each([[true], [{}], [['ann']], ['x'.repeat(901)], ['\uD800']])('is refused as %j', (applicationUsername) => {
    expect(() => usernameOf({ applicationUsername })).toThrow();
  });
});
