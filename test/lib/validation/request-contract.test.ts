import { describe, expect, it } from '@jest/globals';
import * as v from 'valibot';
import { ValidateReceiptBody } from '../../../lib/validation/request-contract.ts';

const body = { id: 'premium', type: 'paid subscription', transaction: { type: 'ios-store' } };
const parseUsername = (additionalData: unknown) =>
  v.parse(ValidateReceiptBody, { ...body, additionalData }).additionalData?.applicationUsername;

describe('ValidateReceiptBody', () => {
  it.each([[undefined], [null], [''], [{}], [{ applicationUsername: null }], [{ applicationUsername: '' }]])(
    'treats additionalData %j as a request without username',
    (additionalData) => {
      expect(parseUsername(additionalData)).toBeUndefined();
    },
  );

  it.each([
    ['ann', 'ann'],
    [42, '42'],
  ])('converts the username %j to the string %s', (applicationUsername, text) => {
    expect(parseUsername({ applicationUsername })).toBe(text);
  });

  it.each([[true], [{}], [['ann']], ['x'.repeat(901)], ['\uD800']])(
    'rejects the username %j',
    (applicationUsername) => {
      expect(() => parseUsername({ applicationUsername })).toThrow();
    },
  );

  it('rejects a text that is too long for a type of a transaction, which messages and responses repeat', () => {
    const transaction = { type: 'x'.repeat(101) };
    expect(() => v.parse(ValidateReceiptBody, { ...body, transaction })).toThrow();
  });
});
